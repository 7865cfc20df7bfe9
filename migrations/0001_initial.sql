-- The first schema. The server applies the files of this folder in order, each in one transaction under an advisory lock, and
-- keeps their checksums: a file that was applied is never edited, a change is a new file.

CREATE TABLE tokens (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name        text NOT NULL,
  role        text NOT NULL CHECK (role IN ('viewer', 'submitter', 'worker', 'admin')),
  secret_hash bytea NOT NULL UNIQUE,           -- SHA-256 of the secret
  created     timestamptz NOT NULL DEFAULT now(),
  expires     timestamptz,
  revoked     timestamptz
);

CREATE TABLE graphs (
  hash            text PRIMARY KEY CHECK (hash ~ '^[0-9a-f]{64}$'),
  canonical       bytea NOT NULL,              -- zstd of the canonical sample: a serialised GraphSample
  structure       text NOT NULL,
  operations      bigint NOT NULL,
  parameter_bytes bigint NOT NULL,
  created         timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE suites (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name            text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9._-]{0,63}$'),
  version         int NOT NULL CHECK (version > 0),
  contents_hash   text NOT NULL,               -- of the ordered (name, graph) pairs
  graph_count     int NOT NULL,
  structure_count int NOT NULL,
  created         timestamptz NOT NULL DEFAULT now(),
  UNIQUE (name, version)
);

CREATE TABLE suite_graphs (
  suite_id   bigint NOT NULL REFERENCES suites,
  position   int NOT NULL,
  name       text NOT NULL,
  graph_hash text NOT NULL REFERENCES graphs,
  PRIMARY KEY (suite_id, position),
  UNIQUE (suite_id, name)
);

-- A set of packages that a runner runs in, known by its content.
CREATE TABLE runner_environments (
  hash       text PRIMARY KEY,
  name       text NOT NULL,
  first_seen timestamptz NOT NULL DEFAULT now()
);

-- A compiler with a version, options, runner environment and device kind. `key` is the canonical JSON of all these.
CREATE TABLE targets (
  id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key              text NOT NULL UNIQUE,
  name             text NOT NULL,
  compiler         text NOT NULL,
  version          text NOT NULL,
  runner           text NOT NULL,
  runner_build     text NOT NULL,
  trusted          boolean NOT NULL,
  environment      text NOT NULL,
  environment_hash text NOT NULL REFERENCES runner_environments,
  device_kind      text NOT NULL,
  options          jsonb NOT NULL
);

CREATE TABLE evaluations (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  client_key      text NOT NULL,
  request_hash    text NOT NULL,               -- of the request that the key was used for
  submitter       bigint NOT NULL REFERENCES tokens,
  suite_id        bigint NOT NULL REFERENCES suites,
  candidate_id    bigint NOT NULL REFERENCES targets,
  baseline_id     bigint NOT NULL REFERENCES targets,
  policy          jsonb NOT NULL,
  state           text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'completed', 'cancelled')),
  partial         boolean NOT NULL,
  fresh           boolean NOT NULL,
  priority        int NOT NULL DEFAULT 0 CHECK (priority BETWEEN -100 AND 100),
  trial_count     int NOT NULL,
  created         timestamptz NOT NULL DEFAULT now(),
  completed       timestamptz,
  UNIQUE (submitter, client_key)
);
CREATE INDEX evaluations_suite ON evaluations (suite_id, state);

-- One sequence for every lease that is ever given.
CREATE SEQUENCE fences;

-- Hot: only trials that have no outcome yet.
CREATE TABLE trials (
  id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  evaluation_id    bigint NOT NULL REFERENCES evaluations,
  position         int NOT NULL,               -- in the suite
  graph_hash       text NOT NULL REFERENCES graphs,
  state            text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'leased')),
  submitter        bigint NOT NULL REFERENCES tokens,
  requirement      text NOT NULL,              -- what a worker must offer: device kind and both targets' offers, as JSON
  reuse_key        text NOT NULL,              -- equal for trials that the same measurement would answer
  fresh            boolean NOT NULL,           -- reuses nothing and is not held back by an equal trial in flight
  priority         int NOT NULL,
  fair_tag         double precision NOT NULL,  -- start tag of start-time fair queuing, lower first
  expected_seconds double precision NOT NULL,
  attempts         int NOT NULL DEFAULT 0,     -- leases given
  worker_losses    int NOT NULL DEFAULT 0,     -- leases that ended because the worker was lost
  infra_failures   int NOT NULL DEFAULT 0,     -- reports of Assay's own failures
  not_before       timestamptz NOT NULL DEFAULT '-infinity',  -- back-off
  history          text NOT NULL DEFAULT '',   -- one line a loss or failure: the evidence if it is quarantined
  worker_id        text,
  incarnation      text,
  device           text,
  fence            bigint,
  lease_until      timestamptz,
  phase            text NOT NULL DEFAULT '',
  UNIQUE (evaluation_id, position),
  CHECK ((state = 'leased') = (fence IS NOT NULL AND lease_until IS NOT NULL AND worker_id IS NOT NULL))
) WITH (fillfactor = 70);
CREATE INDEX trials_claim ON trials (requirement, priority DESC, fair_tag, id) WHERE state = 'queued';
CREATE INDEX trials_leases ON trials (lease_until) WHERE state = 'leased';
CREATE INDEX trials_worker ON trials (worker_id) WHERE state = 'leased';
CREATE INDEX trials_in_flight ON trials (reuse_key) WHERE state = 'leased';
CREATE INDEX trials_submitter ON trials (submitter, requirement, priority) WHERE state = 'queued';

-- Where the next trial of a submitter starts in the virtual time of a class (requirement and priority) of the queue. The virtual
-- time itself is the lowest start tag among the class's queued trials; a class with none starts over.
CREATE TABLE fair_shares (
  requirement text NOT NULL,
  priority    int NOT NULL,
  submitter   bigint NOT NULL REFERENCES tokens,
  finish_tag  double precision NOT NULL DEFAULT 0,
  PRIMARY KEY (requirement, priority, submitter)
);

-- Append-only: what executions of trials gave, and with what.
CREATE TABLE measurements (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  trial_id      bigint NOT NULL,               -- trials are deleted when they have an outcome: no reference
  fence         bigint NOT NULL,
  evaluation_id bigint NOT NULL REFERENCES evaluations,
  position      int NOT NULL,
  graph_hash    text NOT NULL REFERENCES graphs,
  candidate_id  bigint NOT NULL REFERENCES targets,
  reuse_key     text NOT NULL,                 -- with device_model and machine_hash: equal where one may stand for another
  device_model  text NOT NULL,
  environment_hash text NOT NULL,
  machine_hash  text NOT NULL,                 -- of the environment but for the runners, which are in reuse_key
  reusable      boolean NOT NULL,
  outcome_class text NOT NULL,
  wall_seconds  double precision NOT NULL,
  body          bytea NOT NULL,                -- zstd of the serialised Measurement without samples and artifacts' contents
  created       timestamptz NOT NULL DEFAULT now(),
  UNIQUE (trial_id, fence)
);
CREATE INDEX measurements_place ON measurements (evaluation_id, position, id);
CREATE INDEX measurements_reuse ON measurements (reuse_key, id) WHERE reusable;
CREATE INDEX measurements_cost ON measurements (graph_hash, candidate_id, id);

-- Raw timings and artifacts' contents of a measurement, large and rarely read: zstd of a serialised Measurement that holds only these.
CREATE TABLE samples (
  measurement_id bigint PRIMARY KEY REFERENCES measurements,
  body           bytea NOT NULL
);

-- What measurements were taken in, by hash.
CREATE TABLE environments (
  hash       text PRIMARY KEY,
  body       jsonb NOT NULL,
  first_seen timestamptz NOT NULL DEFAULT now()
);

-- One row a finished trial: the measurement that counts and what scores need of it.
CREATE TABLE outcomes (
  trial_id         bigint PRIMARY KEY,
  fence            bigint NOT NULL,            -- 0: no lease was needed (a measurement was reused)
  evaluation_id    bigint NOT NULL REFERENCES evaluations,
  position         int NOT NULL,
  graph_hash       text NOT NULL REFERENCES graphs,
  measurement_id   bigint REFERENCES measurements,
  outcome_class    text NOT NULL CHECK (outcome_class IN ('correct', 'eager_fail', 'compile_fail', 'runtime_fail',
                     'shape_mismatch', 'type_mismatch', 'accuracy', 'nan', 'inf', 'skipped')),
  detail           text NOT NULL DEFAULT '' CHECK (detail IN ('', 'error', 'unsupported', 'timeout', 'signal', 'exit', 'out_of_memory',
                     'protocol', 'quarantined', 'cheating')),
  message          text NOT NULL DEFAULT '',
  critical_t       double precision,
  log_speedup      double precision,
  log_low          double precision,
  log_high         double precision,
  log_error        double precision,           -- standard error of log_speedup
  candidate_ns     double precision,
  baseline_ns      double precision,
  compile_ns       bigint,
  unstable         boolean NOT NULL DEFAULT false,
  self_reported    boolean NOT NULL DEFAULT false,
  degenerate       boolean NOT NULL DEFAULT false,
  environment_hash text NOT NULL DEFAULT '',
  device_model     text NOT NULL DEFAULT '',
  created          timestamptz NOT NULL DEFAULT now(),
  UNIQUE (evaluation_id, position)
);
CREATE INDEX outcomes_measurement ON outcomes (measurement_id);
-- Reads one evaluation's scores from the index alone.
CREATE INDEX outcomes_scores ON outcomes (evaluation_id, position)
  INCLUDE (graph_hash, outcome_class, critical_t, log_speedup, log_error);

CREATE TABLE workers (
  id          text PRIMARY KEY,
  incarnation text NOT NULL,
  name        text NOT NULL,
  version     text NOT NULL,
  sandbox     text NOT NULL DEFAULT '',
  runners     bytea NOT NULL,                  -- serialised SynchroniseRequest that holds only `runners` and `devices`
  draining    boolean NOT NULL DEFAULT false,  -- asked for by an operator
  last_seen   timestamptz NOT NULL DEFAULT now(),
  token_id    bigint REFERENCES tokens
);

CREATE TABLE devices (
  worker_id    text NOT NULL REFERENCES workers ON DELETE CASCADE,
  id           text NOT NULL,
  kind         text NOT NULL,
  model        text NOT NULL,
  uuid         text NOT NULL,
  memory_bytes bigint NOT NULL,
  machine_hash text NOT NULL,                  -- as the worker announced it
  PRIMARY KEY (worker_id, id)
);

-- The packed scores of a finished evaluation, written once: a serialised LeaderboardEntry and the Curve of each interpretation.
CREATE TABLE curves (
  evaluation_id  bigint PRIMARY KEY REFERENCES evaluations,
  cohort         text NOT NULL,                -- device model and software that the scores were taken on
  entry          bytea NOT NULL,
  report         bytea NOT NULL,
  peer_default   bytea NOT NULL,
  peer_extended  bytea NOT NULL,
  created        timestamptz NOT NULL DEFAULT now()
);

-- Audit.
CREATE TABLE events (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at       timestamptz NOT NULL DEFAULT now(),
  actor    text NOT NULL,
  action   text NOT NULL,
  subject  text NOT NULL,
  detail   text NOT NULL DEFAULT ''
);
