-- +goose Up
ALTER TABLE search_requests ADD COLUMN detail TEXT NOT NULL DEFAULT '';
