-- +goose Up
CREATE TABLE jobs (
    id               TEXT PRIMARY KEY,
    type             TEXT NOT NULL,
    state            TEXT NOT NULL CHECK (state IN ('queued', 'running', 'success', 'failed', 'rolled_back', 'canceled')),
    dedup_key        TEXT NOT NULL DEFAULT '',
    actor            TEXT NOT NULL DEFAULT '',
    payload          TEXT NOT NULL,
    result           TEXT NOT NULL DEFAULT '',
    error_code       TEXT NOT NULL DEFAULT '',
    error_message    TEXT NOT NULL DEFAULT '',
    reason           TEXT NOT NULL DEFAULT '',
    step             TEXT NOT NULL DEFAULT '',
    percent          INTEGER NOT NULL DEFAULT 0,
    attempt          INTEGER NOT NULL DEFAULT 0,
    claims           INTEGER NOT NULL DEFAULT 0,
    recoveries       INTEGER NOT NULL DEFAULT 0,
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    last_seq         INTEGER NOT NULL DEFAULT 0,
    owner            TEXT NOT NULL DEFAULT '',
    heartbeat_at     INTEGER NOT NULL DEFAULT 0,
    run_at           INTEGER NOT NULL,
    created_at       INTEGER NOT NULL,
    started_at       INTEGER NOT NULL DEFAULT 0,
    finished_at      INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX jobs_dedup ON jobs (type, dedup_key) WHERE state IN ('queued', 'running') AND dedup_key <> '';
CREATE INDEX jobs_due ON jobs (state, run_at, id) WHERE state = 'queued';
CREATE INDEX jobs_running ON jobs (state, heartbeat_at) WHERE state = 'running';
CREATE INDEX jobs_finished ON jobs (finished_at) WHERE finished_at > 0;
CREATE INDEX jobs_created ON jobs (created_at, id);
CREATE INDEX jobs_state ON jobs (state, created_at, id);
CREATE INDEX jobs_type ON jobs (type, created_at, id);

CREATE TABLE job_events (
    job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    seq    INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    type   TEXT NOT NULL,
    data   TEXT NOT NULL,
    PRIMARY KEY (job_id, seq)
) STRICT;

CREATE TABLE job_locks (
    resource TEXT PRIMARY KEY,
    job_id   TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX job_locks_job ON job_locks (job_id);

CREATE TABLE job_schedules (
    name    TEXT PRIMARY KEY,
    cron    TEXT NOT NULL,
    next_at INTEGER NOT NULL
) STRICT;
