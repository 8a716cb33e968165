-- +goose Up
-- What code hosts said last of their limits, by the account whose token was used; '' stands for calls without a token.
CREATE TABLE release_host_limits (
    host        TEXT NOT NULL,
    account_id  TEXT NOT NULL,
    call_limit  INTEGER NOT NULL,
    remaining   INTEGER NOT NULL,
    reset_at    INTEGER NOT NULL,
    seen_at     INTEGER NOT NULL,
    PRIMARY KEY (host, account_id)
) STRICT, WITHOUT ROWID;
