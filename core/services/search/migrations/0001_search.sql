-- +goose Up
CREATE TABLE search_tokens (
	id                   TEXT PRIMARY KEY,
	hash                 BLOB NOT NULL,
	sealed               TEXT NOT NULL,
	enabled              BOOLEAN NOT NULL,
	note                 TEXT NOT NULL,
	group_name           TEXT NOT NULL,
	owner_id             TEXT NOT NULL,
	expires_at           INTEGER NOT NULL,
	limit_requests       INTEGER,
	limit_credits_hour   INTEGER,
	limit_credits_day    INTEGER,
	limit_credits_month  INTEGER,
	created_at           INTEGER NOT NULL,
	updated_at           INTEGER NOT NULL,
	deleted_at           INTEGER NOT NULL
);
CREATE INDEX search_tokens_updated ON search_tokens (updated_at);

CREATE TABLE search_keys (
	id          TEXT PRIMARY KEY,
	hash        BLOB NOT NULL UNIQUE,
	sealed      TEXT NOT NULL,
	group_name  TEXT NOT NULL,
	state       TEXT NOT NULL,
	reason      TEXT NOT NULL,
	until       INTEGER NOT NULL,
	created_at  INTEGER NOT NULL,
	updated_at  INTEGER NOT NULL,
	deleted_at  INTEGER NOT NULL
);
CREATE INDEX search_keys_updated ON search_keys (updated_at);

CREATE TABLE search_requests (
	id               INTEGER PRIMARY KEY,
	time             INTEGER NOT NULL,
	request_id       TEXT NOT NULL,
	token_id         TEXT NOT NULL,
	key_id           TEXT NOT NULL,
	backend          TEXT NOT NULL,
	operation        TEXT NOT NULL,
	outcome          INTEGER NOT NULL,
	status           INTEGER NOT NULL,
	upstream_status  INTEGER NOT NULL,
	credits          INTEGER NOT NULL,
	duration_us      INTEGER NOT NULL,
	upstream_us      INTEGER NOT NULL,
	plugin_us        INTEGER NOT NULL,
	attempts         INTEGER NOT NULL,
	request_bytes    INTEGER NOT NULL,
	response_bytes   INTEGER NOT NULL,
	client           TEXT NOT NULL,
	error_code       TEXT NOT NULL
);
CREATE INDEX search_requests_open ON search_requests (id) WHERE outcome = 0;

CREATE TABLE search_bodies (
	request_row  INTEGER PRIMARY KEY,
	request      BLOB,
	response     BLOB
);

CREATE TABLE quota_usage (
	token_id   TEXT NOT NULL,
	minute     INTEGER NOT NULL,
	requests   INTEGER NOT NULL,
	credits    INTEGER NOT NULL,
	successes  INTEGER NOT NULL,
	errors     INTEGER NOT NULL,
	refused    INTEGER NOT NULL,
	PRIMARY KEY (token_id, minute)
) WITHOUT ROWID;
CREATE INDEX quota_usage_minute ON quota_usage (minute);

CREATE TABLE search_research (
	resource_id  TEXT PRIMARY KEY,
	token_id     TEXT NOT NULL,
	key_id       TEXT NOT NULL,
	created_at   INTEGER NOT NULL
);
CREATE INDEX search_research_created ON search_research (created_at);
