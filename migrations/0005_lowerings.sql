-- Graphs in the form that runners lowered them to: one entry a graph, lowering (its version and what it lowers for) and runner
-- environment, never changed.

CREATE TABLE lowerings (
  graph_hash       text NOT NULL REFERENCES graphs,
  lowering         text NOT NULL,
  environment_hash text NOT NULL,
  content          bytea NOT NULL,             -- zstd; what is in it is the runner's business
  created          timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (graph_hash, environment_hash, lowering)
);
ALTER TABLE lowerings ALTER COLUMN content SET STORAGE EXTERNAL;  -- compressed already
