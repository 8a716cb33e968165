-- +goose Up
-- The tries that are left to somebody, where several cores share the database; at is when there were so many.
CREATE TABLE rate_buckets (
    name TEXT NOT NULL,
    key  TEXT NOT NULL,
    free REAL NOT NULL,
    at   INTEGER NOT NULL,
    PRIMARY KEY (name, key)
) STRICT;
CREATE INDEX rate_buckets_by_time ON rate_buckets (at);
