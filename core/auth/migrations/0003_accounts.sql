-- +goose Up
ALTER TABLE sessions ADD COLUMN passkey_id TEXT NOT NULL DEFAULT '';

CREATE TABLE passkeys (
	id             TEXT PRIMARY KEY,
	user_id        TEXT NOT NULL REFERENCES users (id),
	credential_id  BLOB NOT NULL UNIQUE,
	rp_id          TEXT NOT NULL,
	name           TEXT NOT NULL,
	record         TEXT NOT NULL,
	backed_up      BOOLEAN NOT NULL,
	created_at     INTEGER NOT NULL,
	last_used_at   INTEGER NOT NULL,
	revoked_at     INTEGER NOT NULL
);
CREATE INDEX passkeys_user ON passkeys (user_id);

CREATE TABLE passkey_challenges (
	hash        BLOB PRIMARY KEY,
	kind        TEXT NOT NULL,
	user_id     TEXT NOT NULL,
	session_id  TEXT NOT NULL,
	name        TEXT NOT NULL,
	data        TEXT NOT NULL,
	expires_at  INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX passkey_challenges_expires ON passkey_challenges (expires_at);

CREATE TABLE setup_links (
	hash        BLOB PRIMARY KEY,
	user_id     TEXT NOT NULL,
	created_at  INTEGER NOT NULL,
	expires_at  INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX setup_links_user ON setup_links (user_id);

CREATE TABLE account_events (
	id           TEXT PRIMARY KEY,
	at           INTEGER NOT NULL,
	action       TEXT NOT NULL,
	result       TEXT NOT NULL,
	actor_id     TEXT NOT NULL,
	actor_name   TEXT NOT NULL,
	via          TEXT NOT NULL,
	address      TEXT NOT NULL,
	target_id    TEXT NOT NULL,
	target_name  TEXT NOT NULL,
	user_id      TEXT NOT NULL,
	detail       TEXT NOT NULL
);
CREATE INDEX account_events_at ON account_events (at);
CREATE INDEX account_events_actor ON account_events (actor_id, id);
CREATE INDEX account_events_user ON account_events (user_id, id);
CREATE INDEX account_events_action ON account_events (action, id);
