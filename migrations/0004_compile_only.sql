-- Evaluations that only compile (policy "aot") have no baseline.

ALTER TABLE evaluations ALTER COLUMN baseline_id DROP NOT NULL;
ALTER TABLE outcomes DROP CONSTRAINT outcomes_outcome_class_check;
ALTER TABLE outcomes ADD CONSTRAINT outcomes_outcome_class_check
  CHECK (outcome_class IN ('correct', 'eager_fail', 'compile_fail', 'runtime_fail', 'shape_mismatch', 'type_mismatch',
                           'accuracy', 'nan', 'inf', 'skipped', 'compiled'));
