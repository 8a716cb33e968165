-- +goose Up
ALTER TABLE containers_changes ADD COLUMN dependents TEXT;
