-- +goose Up
CREATE TABLE users (
	id          TEXT PRIMARY KEY,
	email       TEXT NOT NULL UNIQUE,
	name        TEXT NOT NULL,
	role        TEXT NOT NULL,
	disabled    BOOLEAN NOT NULL,
	created_at  INTEGER NOT NULL,
	updated_at  INTEGER NOT NULL
);

CREATE TABLE api_keys (
	id          TEXT PRIMARY KEY,
	user_id     TEXT NOT NULL REFERENCES users (id),
	name        TEXT NOT NULL,
	hash        BLOB NOT NULL UNIQUE,
	sealed      TEXT NOT NULL,
	prefix      TEXT NOT NULL,
	scopes      TEXT NOT NULL,
	expires_at  INTEGER NOT NULL,
	created_at  INTEGER NOT NULL,
	revoked_at  INTEGER NOT NULL
);
CREATE INDEX api_keys_user ON api_keys (user_id);
