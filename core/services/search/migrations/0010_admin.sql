-- +goose Up
CREATE INDEX search_tokens_live ON search_tokens (created_at, id, group_name, note) WHERE deleted_at = 0;
CREATE INDEX search_tokens_group ON search_tokens (group_name, created_at, id) WHERE deleted_at = 0;
CREATE INDEX search_tokens_owner ON search_tokens (owner_id, created_at, id) WHERE deleted_at = 0;
CREATE INDEX search_tokens_frozen ON search_tokens (created_at, id) WHERE deleted_at = 0 AND NOT enabled;

ALTER TABLE search_keys ADD COLUMN quota_limit INTEGER NOT NULL DEFAULT 0;
ALTER TABLE search_keys ADD COLUMN quota_used INTEGER NOT NULL DEFAULT 0;
ALTER TABLE search_keys ADD COLUMN quota_synced_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE search_keys ADD COLUMN quota_error TEXT NOT NULL DEFAULT '';
ALTER TABLE search_keys ADD COLUMN state_changed_at INTEGER NOT NULL DEFAULT 0;
CREATE INDEX search_keys_quota ON search_keys (quota_limit, quota_used) WHERE deleted_at = 0;
CREATE INDEX search_keys_live ON search_keys (created_at, id) WHERE deleted_at = 0;
CREATE INDEX search_keys_group ON search_keys (group_name, state, created_at, id) WHERE deleted_at = 0;
CREATE INDEX search_keys_state ON search_keys (state, created_at, id) WHERE deleted_at = 0;

CREATE TABLE search_key_events (
	id         TEXT PRIMARY KEY,
	key_id     TEXT NOT NULL,
	time       INTEGER NOT NULL,
	source     TEXT NOT NULL,
	actor      TEXT NOT NULL,
	operation  TEXT NOT NULL,
	before     TEXT NOT NULL,
	after      TEXT NOT NULL,
	reason     TEXT NOT NULL
);
CREATE INDEX search_key_events_key ON search_key_events (key_id, id);

CREATE INDEX search_requests_token ON search_requests (token_id, id);
CREATE INDEX search_requests_key ON search_requests (key_id, id) WHERE key_id <> '';
CREATE INDEX search_requests_outcome ON search_requests (outcome, id) WHERE outcome >= 2;
CREATE INDEX search_requests_operation ON search_requests (operation, id) WHERE operation <> 'search';

CREATE TABLE search_rollups (
	scope        TEXT NOT NULL,
	subject      TEXT NOT NULL,
	step         INTEGER NOT NULL,
	start        INTEGER NOT NULL,
	operation    TEXT NOT NULL,
	requests     INTEGER NOT NULL,
	successes    INTEGER NOT NULL,
	errors       INTEGER NOT NULL,
	refused      INTEGER NOT NULL,
	credits      INTEGER NOT NULL,
	duration_us  INTEGER NOT NULL,
	last_at      INTEGER NOT NULL,
	h0  INTEGER NOT NULL, h1  INTEGER NOT NULL, h2  INTEGER NOT NULL, h3  INTEGER NOT NULL, h4  INTEGER NOT NULL,
	h5  INTEGER NOT NULL, h6  INTEGER NOT NULL, h7  INTEGER NOT NULL, h8  INTEGER NOT NULL, h9  INTEGER NOT NULL,
	h10 INTEGER NOT NULL, h11 INTEGER NOT NULL, h12 INTEGER NOT NULL, h13 INTEGER NOT NULL,
	PRIMARY KEY (scope, subject, step, start, operation)
) WITHOUT ROWID;
CREATE INDEX search_rollups_start ON search_rollups (step, start);

CREATE TABLE search_marks (
	name  TEXT PRIMARY KEY,
	at    INTEGER NOT NULL
);
