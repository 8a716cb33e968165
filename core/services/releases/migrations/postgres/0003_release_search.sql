-- +goose Up
-- The words of releases: A is the name of the repository, B title and tag, C the text.
CREATE TABLE release_search (
    docid BIGINT PRIMARY KEY,
    doc TSVECTOR NOT NULL
);
CREATE INDEX release_search_words ON release_search USING gin (doc);
