-- +goose Up
ALTER TABLE containers_projects ADD COLUMN move TEXT;

-- +goose Down
ALTER TABLE containers_projects DROP COLUMN move;
