-- +goose Up
CREATE TABLE search_clients (
	kind TEXT NOT NULL PRIMARY KEY,
	first_at BIGINT NOT NULL
);
