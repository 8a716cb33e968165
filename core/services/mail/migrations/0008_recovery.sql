-- +goose Up
-- How often recovery has failed to end what was begun with a domain: the pauses between its attempts grow.
ALTER TABLE mail_domains ADD COLUMN recovery_tries INT NOT NULL DEFAULT 0;
