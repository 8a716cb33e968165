-- +goose Up
ALTER TABLE containers_changes ADD COLUMN runs_once TEXT NOT NULL DEFAULT '';
ALTER TABLE containers_services ADD COLUMN awaited BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE containers_services ADD COLUMN ended TEXT NOT NULL DEFAULT '';
