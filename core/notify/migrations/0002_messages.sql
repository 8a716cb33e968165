-- +goose Up
CREATE TABLE notify_messages (
	id         TEXT PRIMARY KEY,
	service    TEXT NOT NULL,
	key        TEXT NOT NULL,
	kind       TEXT NOT NULL,
	schema     TEXT NOT NULL,
	version    INT NOT NULL,
	severity   INT NOT NULL,
	title      TEXT NOT NULL,
	summary    TEXT NOT NULL,
	detail     TEXT NOT NULL,
	rich       TEXT NOT NULL,
	payload    TEXT NOT NULL,
	created_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX notify_messages_key ON notify_messages (service, key);
INSERT INTO notify_messages (id, service, key, kind, schema, version, severity, title, summary, detail, rich, payload, created_at)
	SELECT id, service, id, kind, '', 1, severity, title, text, '', '{}', payload, created_at FROM notify_deliveries;

ALTER TABLE notify_deliveries RENAME TO notify_deliveries_1;
CREATE TABLE notify_deliveries (
	id           TEXT PRIMARY KEY,
	message_id   TEXT NOT NULL,
	service      TEXT NOT NULL,
	channel      TEXT NOT NULL,
	name         TEXT NOT NULL,
	recipient    TEXT NOT NULL,
	once         BOOLEAN NOT NULL,
	state        TEXT NOT NULL,
	attempts     INT NOT NULL,
	error        TEXT NOT NULL,
	warnings     TEXT,
	created_at   INTEGER NOT NULL,
	attempted_at INTEGER NOT NULL,
	ended_at     INTEGER NOT NULL
);
INSERT INTO notify_deliveries (id, message_id, service, channel, name, recipient, once, state, attempts, error, warnings, created_at, attempted_at, ended_at)
	SELECT id, id, service, channel, '', '', FALSE, state, attempts, error, NULL, created_at, attempted_at, ended_at FROM notify_deliveries_1;
DROP TABLE notify_deliveries_1;
CREATE INDEX notify_deliveries_message ON notify_deliveries (message_id);
CREATE INDEX notify_deliveries_name ON notify_deliveries (service, name, id);
CREATE INDEX notify_messages_created ON notify_messages (created_at);
