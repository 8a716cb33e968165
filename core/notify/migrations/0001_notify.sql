-- +goose Up
CREATE TABLE notify_alerts (
	service    TEXT NOT NULL,
	dedup_key  TEXT NOT NULL,
	kind       TEXT NOT NULL,
	active     BOOLEAN NOT NULL,
	raised_at  INTEGER NOT NULL,
	told_at    INTEGER NOT NULL,
	ended_at   INTEGER NOT NULL,
	PRIMARY KEY (service, dedup_key)
);

CREATE TABLE notify_deliveries (
	id           TEXT PRIMARY KEY,
	channel      TEXT NOT NULL,
	service      TEXT NOT NULL,
	kind         TEXT NOT NULL,
	severity     INT NOT NULL,
	title        TEXT NOT NULL,
	text         TEXT NOT NULL,
	payload      TEXT NOT NULL,
	state        TEXT NOT NULL,
	attempts     INT NOT NULL,
	error        TEXT NOT NULL,
	created_at   INTEGER NOT NULL,
	attempted_at INTEGER NOT NULL,
	ended_at     INTEGER NOT NULL
);
CREATE INDEX notify_deliveries_ended ON notify_deliveries (ended_at);
