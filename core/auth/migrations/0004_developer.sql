-- +goose Up
CREATE TABLE developer_sessions (
	hash        BLOB PRIMARY KEY,
	id          TEXT NOT NULL UNIQUE,
	created_at  INTEGER NOT NULL,
	expires_at  INTEGER NOT NULL
) WITHOUT ROWID;
