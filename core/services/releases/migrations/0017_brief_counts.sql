-- +goose Up
-- more is how many releases of the time of a brief it does not list.
ALTER TABLE release_briefs ADD COLUMN more INTEGER NOT NULL DEFAULT 0;
