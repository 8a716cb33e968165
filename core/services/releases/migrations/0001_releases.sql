-- +goose Up
-- Repositories, each stored once for all users.
CREATE TABLE release_repos (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    host            TEXT NOT NULL,
    remote_id       TEXT NOT NULL DEFAULT '',
    full_name       TEXT NOT NULL,
    name_key        TEXT NOT NULL,
    owner_key       TEXT NOT NULL,
    description     TEXT NOT NULL DEFAULT '',
    html_url        TEXT NOT NULL DEFAULT '',
    private         BOOL NOT NULL DEFAULT FALSE,
    avatar_url      TEXT NOT NULL DEFAULT '',
    image_url       TEXT NOT NULL DEFAULT '',
    custom_image    BOOL NOT NULL DEFAULT FALSE,
    etag            TEXT NOT NULL DEFAULT '',
    last_modified   TEXT NOT NULL DEFAULT '',
    release_count   INTEGER NOT NULL DEFAULT 0,
    synced_at       INTEGER NOT NULL DEFAULT 0,
    due_at          INTEGER NOT NULL DEFAULT 0,
    failures        INT NOT NULL DEFAULT 0,
    error_code      TEXT NOT NULL DEFAULT '',
    error           TEXT NOT NULL DEFAULT '',
    created_at      INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX release_repos_name ON release_repos (host, name_key);
CREATE INDEX release_repos_remote ON release_repos (host, remote_id);
CREATE INDEX release_repos_key ON release_repos (name_key);
CREATE INDEX release_repos_owner ON release_repos (owner_key);
CREATE INDEX release_repos_due ON release_repos (due_at, id);

-- Why a user sees a repository. The user '' stands for everybody.
CREATE TABLE release_links (
    user_id     TEXT NOT NULL,
    repo_id     INTEGER NOT NULL REFERENCES release_repos (id),
    starred     BOOL NOT NULL DEFAULT FALSE,
    owned       BOOL NOT NULL DEFAULT FALSE,
    followed    BOOL NOT NULL DEFAULT FALSE,
    visible     BOOL NOT NULL DEFAULT FALSE,
    starred_at  INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, repo_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX release_links_repo ON release_links (repo_id, visible);

-- What a user does not want to see of a repository.
CREATE TABLE release_filters (
    user_id         TEXT NOT NULL,
    repo_id         INTEGER NOT NULL REFERENCES release_repos (id),
    muted           BOOL NOT NULL DEFAULT FALSE,
    no_prereleases  BOOL NOT NULL DEFAULT FALSE,
    min_level       INT NOT NULL DEFAULT 0,
    keyword         TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (user_id, repo_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE release_entries (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    repo_id         INTEGER NOT NULL REFERENCES release_repos (id),
    remote_id       TEXT NOT NULL,
    node_id         TEXT NOT NULL,
    tag             TEXT NOT NULL,
    title           TEXT NOT NULL,
    body            TEXT NOT NULL,
    body_truncated  BOOL NOT NULL,
    html_url        TEXT NOT NULL,
    ts              INTEGER NOT NULL,
    published_at    INTEGER NOT NULL,
    prerelease      BOOL NOT NULL,
    level           INT NOT NULL,
    search_text     TEXT NOT NULL,
    reactions       TEXT NOT NULL,
    hash            TEXT NOT NULL,
    updated_at      INTEGER NOT NULL,
    created_at      INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX release_entries_remote ON release_entries (repo_id, remote_id);
CREATE INDEX release_entries_feed ON release_entries (ts, id, repo_id, prerelease, level);
CREATE INDEX release_entries_repo ON release_entries (repo_id, ts, id, prerelease, level);
CREATE INDEX release_entries_tag ON release_entries (repo_id, tag);

-- The whole text of a release whose text in release_entries is cut.
CREATE TABLE release_bodies (
    release_id  INTEGER PRIMARY KEY REFERENCES release_entries (id) ON DELETE CASCADE,
    body        TEXT NOT NULL
) STRICT;

-- Which releases a user has read.
CREATE TABLE release_reads (
    user_id     TEXT NOT NULL,
    release_id  INTEGER NOT NULL REFERENCES release_entries (id) ON DELETE CASCADE,
    PRIMARY KEY (user_id, release_id)
) STRICT, WITHOUT ROWID;

-- What happened around a user: stars, followers, and what followed accounts do.
CREATE TABLE release_events (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         TEXT NOT NULL,
    kind            TEXT NOT NULL,
    event_rank      INT NOT NULL,
    ts              INTEGER NOT NULL,
    event_key       TEXT NOT NULL,
    repo_id         INTEGER NOT NULL DEFAULT 0,
    repo_full_name  TEXT NOT NULL,
    name_key        TEXT NOT NULL,
    owner_key       TEXT NOT NULL,
    title           TEXT NOT NULL,
    body            TEXT NOT NULL,
    body_truncated  BOOL NOT NULL,
    html_url        TEXT NOT NULL,
    actor_login     TEXT NOT NULL,
    actor_avatar    TEXT NOT NULL,
    actor_url       TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX release_events_once ON release_events (user_id, event_key);
CREATE INDEX release_events_feed ON release_events (user_id, ts, event_rank, id);

-- Whom and what was seen before: followers of a user, and stargazers of the user's repositories.
CREATE TABLE release_members (
    user_id     TEXT NOT NULL,
    member_of   TEXT NOT NULL,
    login       TEXT NOT NULL,
    PRIMARY KEY (user_id, member_of, login)
) STRICT, WITHOUT ROWID;

CREATE TABLE release_notifications (
    user_id         TEXT NOT NULL,
    thread_id       TEXT NOT NULL,
    repo_full_name  TEXT NOT NULL,
    subject_title   TEXT NOT NULL,
    subject_type    TEXT NOT NULL,
    reason          TEXT NOT NULL,
    updated_at      INTEGER NOT NULL,
    unread          BOOL NOT NULL,
    html_url        TEXT NOT NULL,
    PRIMARY KEY (user_id, thread_id)
) STRICT;
CREATE INDEX release_notifications_list ON release_notifications (user_id, updated_at, thread_id);

-- A user's account at a code host. token is sealed.
CREATE TABLE release_accounts (
    user_id     TEXT PRIMARY KEY,
    host        TEXT NOT NULL,
    remote_id   TEXT NOT NULL,
    login       TEXT NOT NULL,
    login_key   TEXT NOT NULL,
    avatar_url  TEXT NOT NULL,
    token       TEXT NOT NULL,
    masked      TEXT NOT NULL,
    state       TEXT NOT NULL,
    message     TEXT NOT NULL,
    checked_at  INTEGER NOT NULL,
    due_at      INTEGER NOT NULL DEFAULT 0,
    created_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX release_accounts_due ON release_accounts (due_at);

CREATE TABLE release_preferences (
    user_id         TEXT PRIMARY KEY,
    time_zone       TEXT NOT NULL,
    brief_hour      INT NOT NULL,
    brief_daily     BOOL NOT NULL,
    include_own     BOOL NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;

-- Where a list was read up to, by user and list.
CREATE TABLE release_sync_state (
    user_id     TEXT NOT NULL,
    name        TEXT NOT NULL,
    value       TEXT NOT NULL,
    PRIMARY KEY (user_id, name)
) STRICT, WITHOUT ROWID;

-- When a code host may be asked again, by the caller's user; '' stands for calls without a token.
CREATE TABLE release_pauses (
    host        TEXT NOT NULL,
    user_id     TEXT NOT NULL,
    until       INTEGER NOT NULL,
    PRIMARY KEY (host, user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE release_briefs (
    id                  TEXT PRIMARY KEY,
    user_id             TEXT NOT NULL,
    date                TEXT NOT NULL,
    window_start        INTEGER NOT NULL,
    window_end          INTEGER NOT NULL,
    time_zone           TEXT NOT NULL,
    boundary            TEXT NOT NULL,
    release_ids         TEXT NOT NULL,
    content             TEXT NOT NULL,
    covers_stars        BOOL NOT NULL,
    covers_followers    BOOL NOT NULL,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX release_briefs_window ON release_briefs (user_id, window_start, window_end);
CREATE INDEX release_briefs_list ON release_briefs (user_id, window_end, created_at, id);
