-- +goose Up
-- The words of messages: A is the subject, B the sender, C the recipients, D the body.
CREATE TABLE mail_search (
    seq BIGINT PRIMARY KEY,
    doc TSVECTOR NOT NULL
);
CREATE INDEX mail_search_words ON mail_search USING gin (doc);
