-- +goose Up
-- Repositories whose releases everybody may read, without an account.
CREATE TABLE release_public_repos (
    repo_id         INTEGER PRIMARY KEY REFERENCES release_repos (id) ON DELETE CASCADE,
    published_by    TEXT NOT NULL,
    published_at    INTEGER NOT NULL
) STRICT;
