-- +goose Up
-- The plugin behind the provider when the domain was provisioned: the same reference may get another one.
ALTER TABLE mail_domains ADD COLUMN plugin TEXT NOT NULL DEFAULT '';
