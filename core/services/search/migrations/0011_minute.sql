-- +goose Up
ALTER TABLE search_tokens ADD COLUMN limit_requests_minute INTEGER;
