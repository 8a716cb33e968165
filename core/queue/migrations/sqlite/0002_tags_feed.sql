-- +goose Up
ALTER TABLE jobs ADD COLUMN detail TEXT NOT NULL DEFAULT '';
CREATE INDEX jobs_type_state ON jobs (type, state, created_at, id);

CREATE TABLE job_checkpoints (
    job_id TEXT PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    data   TEXT NOT NULL
) STRICT;

CREATE TABLE job_tags (
    tag        TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    job_id     TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    PRIMARY KEY (tag, created_at, job_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_tags_job ON job_tags (job_id);

-- AUTOINCREMENT: an id is not given again after the newest events were deleted. There is one writer at a time and the
-- counter is part of its transaction, so ids grow without gaps in the order of commits.
CREATE TABLE job_feed (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id   TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    seq      INTEGER NOT NULL,
    job_type TEXT NOT NULL,
    at       INTEGER NOT NULL,
    type     TEXT NOT NULL,
    data     TEXT NOT NULL,
    UNIQUE (job_id, seq)
) STRICT;
INSERT INTO job_feed (job_id, seq, job_type, at, type, data)
    SELECT e.job_id, e.seq, j.type, e.at, e.type, e.data FROM job_events e JOIN jobs j ON j.id = e.job_id
    ORDER BY e.at, e.job_id, e.seq;
DROP TABLE job_events;
ALTER TABLE job_feed RENAME TO job_events;
