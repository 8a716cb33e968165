-- +goose Up
-- Which repositories an account has starred and owns; release_links has what that comes to for its user.
CREATE TABLE release_account_repos (
    account_id  TEXT NOT NULL,
    user_id     TEXT NOT NULL,
    repo_id     INTEGER NOT NULL REFERENCES release_repos (id),
    starred     BOOL NOT NULL DEFAULT FALSE,
    owned       BOOL NOT NULL DEFAULT FALSE,
    starred_at  INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, repo_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX release_account_repos_user ON release_account_repos (user_id, repo_id);
CREATE INDEX release_account_repos_repo ON release_account_repos (repo_id);
INSERT INTO release_account_repos (account_id, user_id, repo_id, starred, owned, starred_at)
SELECT user_id, user_id, repo_id, starred, owned, starred_at FROM release_links WHERE user_id <> '' AND (starred OR owned);

-- With which account something was read.
ALTER TABLE release_notifications ADD COLUMN account_id TEXT NOT NULL DEFAULT '';
UPDATE release_notifications SET account_id = user_id;
ALTER TABLE release_events ADD COLUMN account_id TEXT NOT NULL DEFAULT '';
UPDATE release_events SET account_id = user_id;

-- What is read with an account.
ALTER TABLE release_host_accounts ADD COLUMN reads_stars BOOL NOT NULL DEFAULT TRUE;
ALTER TABLE release_host_accounts ADD COLUMN reads_inbox BOOL NOT NULL DEFAULT TRUE;
ALTER TABLE release_host_accounts ADD COLUMN reads_activity BOOL NOT NULL DEFAULT TRUE;
