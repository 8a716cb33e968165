-- +goose Up
-- The words of messages; docid is the seq of the message.
CREATE VIRTUAL TABLE mail_search USING fts4(subject, sender, recipient, body, tokenize=simple, matchinfo=fts3, order=desc);
