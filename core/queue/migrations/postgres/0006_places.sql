-- +goose Up
-- Where a job may begin; '' stands for everywhere.
ALTER TABLE jobs ADD COLUMN place TEXT NOT NULL DEFAULT '';
CREATE INDEX jobs_placed ON jobs (place, run_at) WHERE state = 'queued' AND place <> '';
