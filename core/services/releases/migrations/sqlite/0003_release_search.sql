-- +goose Up
-- The words of releases; docid is the id of the release.
CREATE VIRTUAL TABLE release_search USING fts4(repo, title, body, tokenize=simple, matchinfo=fts3, order=desc);
