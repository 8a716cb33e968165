-- +goose Up
-- A poll for updates compares when releases have changed: the index has that, so that no release is read.
DROP INDEX release_entries_feed;
CREATE INDEX release_entries_feed ON release_entries (ts, id, repo_id, prerelease, level, updated_at);
