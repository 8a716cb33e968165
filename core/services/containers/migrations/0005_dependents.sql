-- +goose Up
ALTER TABLE containers_changes ADD COLUMN dependents TEXT;

-- +goose Down
ALTER TABLE containers_changes DROP COLUMN dependents;
