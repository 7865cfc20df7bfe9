-- What the operations of a graph call, a name a line: which graphs represent a suite depends on it.

ALTER TABLE graphs ADD COLUMN callees text NOT NULL DEFAULT '';  -- empty: older than this column
