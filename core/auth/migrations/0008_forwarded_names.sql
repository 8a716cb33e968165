-- +goose Up
ALTER TABLE users ADD COLUMN forwarded_as TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX users_forwarded_as ON users (forwarded_as) WHERE forwarded_as <> '';
