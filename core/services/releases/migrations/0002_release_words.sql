-- +goose Up
-- indexed says that the words of the release are in release_search as it is now.
ALTER TABLE release_entries ADD COLUMN indexed BOOL NOT NULL DEFAULT FALSE;
CREATE INDEX release_entries_unindexed ON release_entries (id) WHERE NOT indexed;
