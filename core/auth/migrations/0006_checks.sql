-- +goose Up
ALTER TABLE sessions ADD COLUMN checked_at INTEGER NOT NULL DEFAULT 0;
