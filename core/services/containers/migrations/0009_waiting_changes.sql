-- +goose Up
ALTER TABLE containers_changes ADD COLUMN waits_since INTEGER NOT NULL DEFAULT 0;
