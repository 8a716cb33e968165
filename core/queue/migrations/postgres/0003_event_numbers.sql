-- +goose Up
-- An event gets its number over all jobs after its transaction has committed, from whoever reads it first and holds the row of
-- job_feed meanwhile. So writers of events do not wait for each other. Events are numbered as they were written: those of one job
-- are written one after the other, since each transaction holds the job's row.
ALTER TABLE job_events ALTER COLUMN id DROP NOT NULL;
CREATE SEQUENCE job_events_written;
ALTER TABLE job_events ADD COLUMN written BIGINT;
ALTER TABLE job_events ALTER COLUMN written SET DEFAULT nextval('job_events_written');
ALTER SEQUENCE job_events_written OWNED BY job_events.written;
CREATE INDEX job_events_unnumbered ON job_events (written) WHERE id IS NULL;
