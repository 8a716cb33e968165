-- +goose Up
ALTER TABLE account_events ADD COLUMN request_id TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE account_events DROP COLUMN request_id;
