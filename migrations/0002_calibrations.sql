-- The A/A error of devices: how far apart two equal arms were measured on them.

ALTER TABLE measurements ADD COLUMN worker_id text NOT NULL DEFAULT '';  -- empty: older than this column
ALTER TABLE measurements ADD COLUMN device text NOT NULL DEFAULT '';
ALTER TABLE workers ADD COLUMN maximum_calibration_error double precision NOT NULL DEFAULT 0;  -- 0: no limit

-- Where the outcomes of a finished evaluation were measured, written once, so that a leaderboard need not read outcomes.
CREATE TABLE evaluation_devices (
  evaluation_id bigint NOT NULL REFERENCES evaluations,
  worker_id     text NOT NULL,
  device        text NOT NULL,
  PRIMARY KEY (evaluation_id, worker_id, device)
);

CREATE TABLE calibrations (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  worker_id   text NOT NULL,
  device      text NOT NULL,
  runner      text NOT NULL,
  one_process boolean NOT NULL,
  threads     int NOT NULL,                    -- as the policy asked: 0 is the worker's default
  p95_error   double precision NOT NULL,
  body        bytea NOT NULL,                  -- a serialised Calibration
  created     timestamptz NOT NULL             -- end of the evaluations that it was computed from
);
CREATE INDEX calibrations_newest ON calibrations (worker_id, device, runner, one_process, threads, created DESC, id DESC);
