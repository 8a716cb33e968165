-- +goose Up
-- A message that has no DKIM signature need not be read to check its sender.
ALTER TABLE mail_messages ADD COLUMN signed BOOL NOT NULL DEFAULT TRUE;
