-- +goose Up
-- Destroyed mailboxes stay, and are most of them in time: what asks for the others is not to read them. The first index has all that counting by
-- state needs.
CREATE INDEX mail_mailboxes_live ON mail_mailboxes (created_at, id, status, expires_at) WHERE status <> 'destroyed';
CREATE INDEX mail_mailboxes_live_by_owner ON mail_mailboxes (owner_id, created_at, id) WHERE status <> 'destroyed';
