-- +goose Up
-- Whoever saw the answer to a message and sends the same bytes again has sent a second message.
DROP INDEX mail_messages_once;

-- Deliveries that may come once more: those by SMTP whose answer may not have reached the sender, and those by HTTP, for a day.
CREATE TABLE mail_deliveries (
    id          TEXT NOT NULL PRIMARY KEY,
    key         BLOB NOT NULL,
    received_at INTEGER NOT NULL,
    messages    TEXT NOT NULL
) STRICT;
CREATE INDEX mail_deliveries_by_key ON mail_deliveries (key);
CREATE INDEX mail_deliveries_by_time ON mail_deliveries (received_at);
