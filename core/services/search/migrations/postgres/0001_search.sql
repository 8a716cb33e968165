-- +goose Up
CREATE TABLE search_tokens (
	id                   TEXT PRIMARY KEY,
	hash                 BYTEA NOT NULL,
	sealed               TEXT NOT NULL,
	enabled              BOOLEAN NOT NULL,
	note                 TEXT NOT NULL,
	group_name           TEXT NOT NULL,
	owner_id             TEXT NOT NULL,
	expires_at           BIGINT NOT NULL,
	limit_requests       BIGINT,
	limit_credits_hour   BIGINT,
	limit_credits_day    BIGINT,
	limit_credits_month  BIGINT,
	created_at           BIGINT NOT NULL,
	updated_at           BIGINT NOT NULL,
	deleted_at           BIGINT NOT NULL
);
CREATE INDEX search_tokens_updated ON search_tokens (updated_at);

CREATE TABLE search_keys (
	id          TEXT PRIMARY KEY,
	hash        BYTEA NOT NULL UNIQUE,
	sealed      TEXT NOT NULL,
	group_name  TEXT NOT NULL,
	state       TEXT NOT NULL,
	reason      TEXT NOT NULL,
	until       BIGINT NOT NULL,
	created_at  BIGINT NOT NULL,
	updated_at  BIGINT NOT NULL,
	deleted_at  BIGINT NOT NULL
);
CREATE INDEX search_keys_updated ON search_keys (updated_at);

CREATE TABLE search_requests (
	id               BIGINT PRIMARY KEY,
	time             BIGINT NOT NULL,
	request_id       TEXT NOT NULL,
	token_id         TEXT NOT NULL,
	key_id           TEXT NOT NULL,
	backend          TEXT NOT NULL,
	operation        TEXT NOT NULL,
	outcome          BIGINT NOT NULL,
	status           BIGINT NOT NULL,
	upstream_status  BIGINT NOT NULL,
	credits          BIGINT NOT NULL,
	duration_us      BIGINT NOT NULL,
	upstream_us      BIGINT NOT NULL,
	plugin_us        BIGINT NOT NULL,
	attempts         BIGINT NOT NULL,
	request_bytes    BIGINT NOT NULL,
	response_bytes   BIGINT NOT NULL,
	client           TEXT NOT NULL,
	error_code       TEXT NOT NULL
);
CREATE INDEX search_requests_open ON search_requests (id) WHERE outcome = 0;

CREATE TABLE search_bodies (
	request_row  BIGINT PRIMARY KEY,
	request      BYTEA,
	response     BYTEA
);

CREATE TABLE quota_usage (
	token_id   TEXT NOT NULL,
	minute     BIGINT NOT NULL,
	requests   BIGINT NOT NULL,
	credits    BIGINT NOT NULL,
	successes  BIGINT NOT NULL,
	errors     BIGINT NOT NULL,
	refused    BIGINT NOT NULL,
	PRIMARY KEY (token_id, minute)
);
CREATE INDEX quota_usage_minute ON quota_usage (minute);

CREATE TABLE search_research (
	resource_id  TEXT PRIMARY KEY,
	token_id     TEXT NOT NULL,
	key_id       TEXT NOT NULL,
	created_at   BIGINT NOT NULL
);
CREATE INDEX search_research_created ON search_research (created_at);

-- +goose Down
DROP TABLE search_research;
DROP TABLE quota_usage;
DROP TABLE search_bodies;
DROP TABLE search_requests;
DROP TABLE search_keys;
DROP TABLE search_tokens;
