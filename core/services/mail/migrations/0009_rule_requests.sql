-- +goose Up
-- How many requests for the rule of a mailbox have an outcome that is not known: each of them may have made it. Until now the rule itself was noted
-- as "unknown", so that the outcome of one request replaced what was known of another one.
ALTER TABLE mail_mailboxes ADD COLUMN rule_requests INT NOT NULL DEFAULT 0;
UPDATE mail_mailboxes SET rule_id = '', rule_requests = 1 WHERE rule_id = 'unknown';
-- A destroyed mailbox is looked at once more if such a request may have come to its provider since.
DROP INDEX mail_mailboxes_cleanup;
CREATE INDEX mail_mailboxes_cleanup ON mail_mailboxes (cleanup_at) WHERE cleanup_at > 0;
