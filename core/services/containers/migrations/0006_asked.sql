-- +goose Up
ALTER TABLE containers_services ADD COLUMN built BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE containers_services ADD COLUMN tag_digest TEXT NOT NULL DEFAULT '';
