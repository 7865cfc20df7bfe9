-- t* of both arms against a run of the graph in float64, where one was asked for.

ALTER TABLE outcomes ADD COLUMN reference_baseline_t double precision;
ALTER TABLE outcomes ADD COLUMN reference_candidate_t double precision;
