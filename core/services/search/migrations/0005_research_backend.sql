-- +goose Up
ALTER TABLE search_research ADD COLUMN backend TEXT NOT NULL DEFAULT '';
