-- +goose Up
ALTER TABLE jobs ADD COLUMN detail TEXT NOT NULL DEFAULT '';
CREATE INDEX jobs_type_state ON jobs (type, state, created_at, id);

CREATE TABLE job_checkpoints (
    job_id TEXT PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    data   TEXT NOT NULL
);

CREATE TABLE job_tags (
    tag        TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    job_id     TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    PRIMARY KEY (tag, created_at, job_id)
);
CREATE INDEX job_tags_job ON job_tags (job_id);

ALTER TABLE job_events ADD COLUMN id BIGINT;
ALTER TABLE job_events ADD COLUMN job_type TEXT NOT NULL DEFAULT '';
UPDATE job_events e SET id = n.id, job_type = n.job_type
    FROM (SELECT e.job_id, e.seq, j.type AS job_type, row_number() OVER (ORDER BY e.at, e.job_id, e.seq) AS id
          FROM job_events e JOIN jobs j ON j.id = e.job_id) n
    WHERE e.job_id = n.job_id AND e.seq = n.seq;
ALTER TABLE job_events ALTER COLUMN id SET NOT NULL;
CREATE UNIQUE INDEX job_events_id ON job_events (id);

-- The number of the newest event. A transaction that writes events holds this row until it ends, so that ids grow
-- without gaps in the order of commits. One core process works on the database, and its transactions are short.
CREATE TABLE job_feed (
    last BIGINT NOT NULL
);
INSERT INTO job_feed (last) SELECT COALESCE(max(id), 0) FROM job_events;
