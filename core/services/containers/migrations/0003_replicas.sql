-- +goose Up
ALTER TABLE containers_changes ADD COLUMN replicas INTEGER NOT NULL DEFAULT 0;
