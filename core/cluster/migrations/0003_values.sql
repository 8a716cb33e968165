-- +goose Up
-- What one node keeps for a while for a request that another may get. What is secret is sealed.
CREATE TABLE core_values (
    key      TEXT PRIMARY KEY,
    value    TEXT NOT NULL,
    until_at INTEGER NOT NULL
) STRICT;

-- What all cores of the database must agree on.
CREATE TABLE core_state (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;
