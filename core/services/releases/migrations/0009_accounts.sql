-- +goose Up
-- Accounts of users at code hosts. id is the user's own for the first account, so that what was kept of it stays its own. token and
-- refresh_token are sealed. sign_in says that the user signs in with the account, which nobody else can do then.
CREATE TABLE release_host_accounts (
    id              TEXT PRIMARY KEY,
    user_id         TEXT NOT NULL,
    host            TEXT NOT NULL,
    remote_id       TEXT NOT NULL,
    login           TEXT NOT NULL,
    login_key       TEXT NOT NULL,
    avatar_url      TEXT NOT NULL,
    token           TEXT NOT NULL,
    masked          TEXT NOT NULL,
    refresh_token   TEXT NOT NULL DEFAULT '',
    expires_at      INTEGER NOT NULL DEFAULT 0,
    sign_in         BOOL NOT NULL DEFAULT FALSE,
    state           TEXT NOT NULL,
    message         TEXT NOT NULL,
    checked_at      INTEGER NOT NULL,
    due_at          INTEGER NOT NULL DEFAULT 0,
    created_at      INTEGER NOT NULL
) STRICT;
INSERT INTO release_host_accounts (id, user_id, host, remote_id, login, login_key, avatar_url, token, masked, state, message, checked_at, due_at, created_at)
SELECT user_id, user_id, host, remote_id, login, login_key, avatar_url, token, masked, state, message, checked_at, due_at, created_at FROM release_accounts;
DROP TABLE release_accounts;
CREATE UNIQUE INDEX release_host_accounts_user ON release_host_accounts (user_id, host, remote_id);
CREATE UNIQUE INDEX release_host_accounts_sign_in ON release_host_accounts (host, remote_id) WHERE sign_in;
CREATE INDEX release_host_accounts_due ON release_host_accounts (due_at);

-- Sign-ins at a code host that have begun: hashes of the state and of the browser's cookie. verifier is sealed.
CREATE TABLE release_sign_ins (
    state_hash      TEXT PRIMARY KEY,
    browser_hash    TEXT NOT NULL,
    user_id         TEXT NOT NULL,
    host            TEXT NOT NULL,
    verifier        TEXT NOT NULL,
    next            TEXT NOT NULL,
    expires_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX release_sign_ins_expires ON release_sign_ins (expires_at);
