-- +goose Up
CREATE TABLE notify_settings (
	name       TEXT PRIMARY KEY,
	value      TEXT NOT NULL,
	sealed_as  TEXT NOT NULL,
	updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE notify_subscriptions (
	id         TEXT PRIMARY KEY,
	endpoint   TEXT NOT NULL UNIQUE,
	p256dh     TEXT NOT NULL,
	auth       TEXT NOT NULL,
	sealed_as  TEXT NOT NULL,
	label      TEXT NOT NULL,
	created_by TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL
) STRICT;
