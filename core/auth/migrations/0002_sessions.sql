-- +goose Up
ALTER TABLE api_keys ADD COLUMN last_used_at INTEGER NOT NULL DEFAULT 0;

CREATE TABLE sessions (
	hash        BLOB PRIMARY KEY,
	id          TEXT NOT NULL UNIQUE,
	user_id     TEXT NOT NULL REFERENCES users (id),
	key_id      TEXT NOT NULL,
	began_with  TEXT NOT NULL,
	user_agent  TEXT NOT NULL,
	address     TEXT NOT NULL,
	created_at  INTEGER NOT NULL,
	seen_at     INTEGER NOT NULL,
	expires_at  INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_key ON sessions (key_id);
CREATE INDEX sessions_expires ON sessions (expires_at);
