-- +goose Up
CREATE TABLE core_locks (
    key    TEXT PRIMARY KEY,
    -- node and epoch say who holds it: it is free when the node has ended, or is in another epoch.
    node   TEXT NOT NULL,
    epoch  INTEGER NOT NULL,
    -- holder is of the one acquisition.
    holder TEXT NOT NULL
) STRICT;
