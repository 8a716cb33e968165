-- +goose Up
CREATE TABLE developer_sessions (
	hash        BYTEA PRIMARY KEY,
	id          TEXT NOT NULL UNIQUE,
	created_at  BIGINT NOT NULL,
	expires_at  BIGINT NOT NULL
);

-- +goose Down
DROP TABLE developer_sessions;
