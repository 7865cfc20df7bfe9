-- How the tensors of an outcome were filled, and why its outputs prove nothing.

-- Older outcomes were measured by GraphNet's rule, the only one there was.
ALTER TABLE outcomes ADD COLUMN replay text NOT NULL DEFAULT 'graphnet' CHECK (replay IN ('', 'assay', 'graphnet'));
ALTER TABLE outcomes ALTER COLUMN replay SET DEFAULT '';  -- not measured
ALTER TABLE outcomes ADD COLUMN degeneracy text NOT NULL DEFAULT ''
  CHECK (degeneracy IN ('', 'all_equal', 'all_zero', 'has_inf', 'has_nan'));
CREATE INDEX outcomes_degenerate ON outcomes (graph_hash, replay) WHERE degenerate;
