-- +goose Up
-- What is known of each page of a list of releases, its validators included, is kept in release_sync_state.
ALTER TABLE release_repos DROP COLUMN etag;
ALTER TABLE release_repos DROP COLUMN last_modified;
-- entry_url is the address that a release had when it was found: it is part of its id in feeds for readers, which stays after a rename.
ALTER TABLE release_entries ADD COLUMN entry_url TEXT NOT NULL DEFAULT '';
-- The hash was also that of the reactions, which are no content: it is made anew when the release is read next.
UPDATE release_entries SET entry_url = html_url, hash = '';
