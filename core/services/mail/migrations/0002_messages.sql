-- +goose Up
-- The raw bytes of a message, once for all recipients of a delivery.
CREATE TABLE mail_contents (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    hash BLOB NOT NULL,
    size INTEGER NOT NULL
) STRICT;

-- A piece of the raw bytes, a zstd frame of its own.
CREATE TABLE mail_chunks (
    content_id INTEGER NOT NULL REFERENCES mail_contents (id) ON DELETE CASCADE,
    number     INTEGER NOT NULL,
    data       BLOB NOT NULL,
    PRIMARY KEY (content_id, number)
) STRICT;

CREATE TABLE mail_messages (
    seq             INTEGER PRIMARY KEY AUTOINCREMENT,
    id              TEXT NOT NULL UNIQUE,
    mailbox_id      TEXT NOT NULL,
    owner_id        TEXT NOT NULL,
    mailbox_address TEXT NOT NULL,
    content_id      INTEGER NOT NULL REFERENCES mail_contents (id),
    hash            BLOB NOT NULL,
    size            INTEGER NOT NULL,
    received_at     INTEGER NOT NULL,
    envelope_from   TEXT NOT NULL,
    envelope_to     TEXT NOT NULL,
    message_id      TEXT NOT NULL,
    sent_at         INTEGER NOT NULL,
    subject         TEXT NOT NULL,
    preview         TEXT NOT NULL,
    from_name       TEXT NOT NULL,
    from_address    TEXT NOT NULL,
    attachments     INTEGER NOT NULL,
    has_html        BOOL NOT NULL DEFAULT FALSE,
    parse_status    TEXT NOT NULL,
    parser          TEXT NOT NULL,
    code            TEXT NOT NULL,
    code_source     TEXT NOT NULL,
    read_at         INTEGER NOT NULL,
    via             TEXT NOT NULL,
    client          TEXT NOT NULL,
    helo            TEXT NOT NULL,
    tls             TEXT NOT NULL,
    auth_at         INTEGER NOT NULL,
    auth            TEXT NOT NULL
) STRICT;

-- A repeated delivery is kept once.
CREATE UNIQUE INDEX mail_messages_once ON mail_messages (mailbox_id, hash);
CREATE INDEX mail_messages_by_mailbox ON mail_messages (mailbox_id, seq);
CREATE INDEX mail_messages_by_owner ON mail_messages (owner_id, seq);
CREATE INDEX mail_messages_by_time ON mail_messages (received_at, seq);
CREATE INDEX mail_messages_by_content ON mail_messages (content_id);
CREATE INDEX mail_messages_with_code ON mail_messages (mailbox_id, seq) WHERE code <> '';
-- Messages whose sender is still to be checked.
CREATE INDEX mail_messages_unchecked ON mail_messages (seq) WHERE auth_at = 0;
