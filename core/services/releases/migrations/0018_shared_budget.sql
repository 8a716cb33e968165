-- +goose Up
-- Where several cores share the budget of the models: the row is locked by whoever reserves; paused_until is until when no call is made.
CREATE TABLE release_model_budget (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    turn         INTEGER NOT NULL DEFAULT 0,
    paused_until INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO release_model_budget (id) VALUES (1);
-- The tokens of calls that are under way, by the core in its epoch that makes them.
CREATE TABLE release_model_reservations (
    id       TEXT PRIMARY KEY,
    node     TEXT NOT NULL,
    epoch    INTEGER NOT NULL,
    tokens   INTEGER NOT NULL,
    until_at INTEGER NOT NULL
) STRICT;
