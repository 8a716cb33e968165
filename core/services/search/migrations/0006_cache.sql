-- +goose Up
ALTER TABLE search_tokens ADD COLUMN cache_ttl INTEGER;
ALTER TABLE search_requests ADD COLUMN cached BOOLEAN NOT NULL DEFAULT FALSE;
