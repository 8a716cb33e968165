-- +goose Up
-- A queued job begins by its ticket, a row of river_job: see core/docs/adr/0033-jobs-begin-by-tickets.md. 0 stands for none, as after a
-- submission by a process that does not run such jobs.
ALTER TABLE jobs ADD COLUMN ticket BIGINT NOT NULL DEFAULT 0;
CREATE INDEX jobs_unticketed ON jobs (run_at, id) WHERE state = 'queued' AND ticket = 0;
