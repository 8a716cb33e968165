-- +goose Up
-- The calls to backends of each core that shares the database, within the window of alerts, as it has reported them last.
CREATE TABLE search_backend_calls (
	node     TEXT NOT NULL,
	backend  TEXT NOT NULL,
	calls    INTEGER NOT NULL,
	failed   INTEGER NOT NULL,
	at       INTEGER NOT NULL,
	PRIMARY KEY (node, backend)
);
