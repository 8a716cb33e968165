-- +goose Up
ALTER TABLE account_events ADD COLUMN request_id TEXT NOT NULL DEFAULT '';
