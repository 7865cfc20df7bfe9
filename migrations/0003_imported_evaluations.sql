-- Evaluations that another program measured, read from its logs: they have outcomes and no trials. Their graphs may be
-- known by name alone.

ALTER TABLE evaluations ADD COLUMN imported text NOT NULL DEFAULT '' -- empty: measured here
  CHECK (imported IN ('', 'graphnet-log', 'graphnet-log-as-peer'));
ALTER TABLE suite_graphs ALTER COLUMN graph_hash DROP NOT NULL;       -- NULL: only the name is known
ALTER TABLE outcomes ALTER COLUMN graph_hash DROP NOT NULL;           -- NULL only where `evaluations.imported` is not empty
