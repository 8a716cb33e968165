-- +goose Up
ALTER TABLE sessions ADD COLUMN checked_at INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE sessions DROP COLUMN checked_at;
