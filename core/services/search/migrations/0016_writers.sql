-- +goose Up
-- The cores that write requests into a database that they share. rolled is up to which of a writer's ended requests the roll-ups go.
CREATE TABLE search_writers (
	id         INTEGER PRIMARY KEY,
	node       TEXT NOT NULL,
	epoch      INTEGER NOT NULL,
	slot       INTEGER NOT NULL,
	rolled     INTEGER NOT NULL,
	rolled_at  INTEGER NOT NULL,
	ended      BOOLEAN NOT NULL
);
-- writer is 0 for requests of a core that has the database for itself; ended_seq numbers the requests of a writer as they end.
ALTER TABLE search_requests ADD COLUMN writer INTEGER NOT NULL DEFAULT 0;
ALTER TABLE search_requests ADD COLUMN ended_seq INTEGER NOT NULL DEFAULT 0;
