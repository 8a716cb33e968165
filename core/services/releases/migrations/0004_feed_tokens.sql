-- +goose Up
-- Tokens that read one feed. hash is that of the token; the rest chooses what the feed has.
CREATE TABLE release_feed_tokens (
    id              TEXT PRIMARY KEY,
    user_id         TEXT NOT NULL,
    name            TEXT NOT NULL,
    hash            TEXT NOT NULL,
    masked          TEXT NOT NULL,
    types           TEXT NOT NULL,
    scope           TEXT NOT NULL,
    items           TEXT NOT NULL,
    org             TEXT NOT NULL,
    search          TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    last_used_at    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX release_feed_tokens_hash ON release_feed_tokens (hash);
CREATE INDEX release_feed_tokens_user ON release_feed_tokens (user_id, created_at);
