-- +goose Up
CREATE TABLE store_changes (
    id  INTEGER PRIMARY KEY CHECK (id = 1),
    seq INTEGER NOT NULL
) STRICT;
INSERT INTO store_changes (id, seq) VALUES (1, 0);
