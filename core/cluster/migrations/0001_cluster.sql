-- +goose Up
CREATE TABLE core_nodes (
    id         TEXT PRIMARY KEY,
    -- epoch rises with each process that takes the id, and when others take the node for dead.
    epoch      INTEGER NOT NULL,
    boot       TEXT NOT NULL,
    lease_ms   INTEGER NOT NULL,
    about      TEXT NOT NULL,
    drain      BOOL NOT NULL DEFAULT FALSE,
    started_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL,
    -- ended_at is when it stopped, or was taken for dead; 0 while it runs.
    ended_at   INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE core_roles (
    role     TEXT PRIMARY KEY,
    node     TEXT NOT NULL,
    -- term rises with each node that takes the role.
    term     INTEGER NOT NULL,
    until_at INTEGER NOT NULL
) STRICT;
