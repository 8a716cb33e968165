-- +goose Up
ALTER TABLE release_preferences ADD COLUMN notify_releases BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE release_preferences ADD COLUMN notify_brief BOOL NOT NULL DEFAULT FALSE;
