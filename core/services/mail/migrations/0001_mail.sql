-- +goose Up
CREATE TABLE mail_domains (
    id                  TEXT PRIMARY KEY,
    name                TEXT NOT NULL UNIQUE,
    zone_id             TEXT NOT NULL DEFAULT '',
    binding             TEXT NOT NULL CHECK (binding IN ('settings', 'catalog', 'project_bind')),
    provider            TEXT NOT NULL DEFAULT '',
    routed              BOOL NOT NULL DEFAULT FALSE,
    status              TEXT NOT NULL CHECK (status IN ('active', 'disabled', 'provisioning_error')),
    operation           TEXT NOT NULL DEFAULT '',
    step                TEXT NOT NULL DEFAULT '',
    catch_all           BOOL NOT NULL DEFAULT FALSE,
    catch_all_owner_id  TEXT NOT NULL DEFAULT '',
    catch_all_pattern   TEXT NOT NULL DEFAULT '',
    catch_all_snapshot  BLOB,
    records             TEXT NOT NULL DEFAULT '',
    checked_at          INTEGER NOT NULL DEFAULT 0,
    name_servers        TEXT NOT NULL DEFAULT '',
    provision_error     TEXT NOT NULL DEFAULT '',
    retry_at            INTEGER NOT NULL DEFAULT 0,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL,
    provisioned_at      INTEGER NOT NULL DEFAULT 0,
    disabled_at         INTEGER NOT NULL DEFAULT 0,
    deleted_at          INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE mail_mailboxes (
    id              TEXT PRIMARY KEY,
    domain_id       TEXT NOT NULL REFERENCES mail_domains (id),
    owner_id        TEXT NOT NULL,
    local_part      TEXT NOT NULL,
    subdomain       TEXT NOT NULL DEFAULT '',
    mail_domain     TEXT NOT NULL,
    address         TEXT NOT NULL,
    source          TEXT NOT NULL CHECK (source IN ('registered', 'catch_all')),
    status          TEXT NOT NULL CHECK (status IN ('active', 'destroying', 'destroyed')),
    created_at      INTEGER NOT NULL,
    received_at     INTEGER NOT NULL DEFAULT 0,
    expires_at      INTEGER NOT NULL DEFAULT 0,
    destroyed_at    INTEGER NOT NULL DEFAULT 0,
    rule_id         TEXT NOT NULL DEFAULT '',
    created_via     TEXT NOT NULL CHECK (created_via IN ('web', 'api_key', 'system', 'unknown')),
    key_id          TEXT NOT NULL DEFAULT '',
    key_name        TEXT NOT NULL DEFAULT '',
    key_prefix      TEXT NOT NULL DEFAULT '',
    cleanup_at      INTEGER NOT NULL DEFAULT 0,
    cleanup_tries   INT NOT NULL DEFAULT 0,
    cleanup_error   TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX mail_mailboxes_address ON mail_mailboxes (address) WHERE status <> 'destroyed';
CREATE INDEX mail_mailboxes_created ON mail_mailboxes (created_at, id);
CREATE INDEX mail_mailboxes_owner ON mail_mailboxes (owner_id, created_at, id);
CREATE INDEX mail_mailboxes_domain ON mail_mailboxes (domain_id) WHERE status <> 'destroyed';
CREATE INDEX mail_mailboxes_expiry ON mail_mailboxes (expires_at) WHERE status = 'active' AND expires_at > 0;
CREATE INDEX mail_mailboxes_cleanup ON mail_mailboxes (cleanup_at) WHERE status = 'destroying';

CREATE TABLE mail_tags (
    mailbox_id  TEXT NOT NULL REFERENCES mail_mailboxes (id),
    tag         TEXT NOT NULL,
    position    INT NOT NULL,
    PRIMARY KEY (mailbox_id, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX mail_tags_tag ON mail_tags (tag, mailbox_id);
