-- +goose Up
CREATE TABLE containers_stacks (
    id              TEXT PRIMARY KEY,
    project         TEXT NOT NULL,
    working_dir     TEXT NOT NULL,
    files           TEXT,
    env_files       TEXT,
    archived_at     INTEGER NOT NULL DEFAULT 0,
    archived_reason TEXT NOT NULL DEFAULT '',
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    last_check_at   INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX containers_stacks_project ON containers_stacks (project);

CREATE TABLE containers_projects (
    project         TEXT PRIMARY KEY,
    status          TEXT NOT NULL CHECK (status IN ('active', 'stopped', 'missing', 'invalid')),
    stack_id        TEXT NOT NULL DEFAULT '',
    working_dir     TEXT NOT NULL DEFAULT '',
    files           TEXT,
    last_seen_at    INTEGER NOT NULL DEFAULT 0,
    last_scan_at    INTEGER NOT NULL DEFAULT 0,
    last_error      TEXT NOT NULL DEFAULT '',
    details         TEXT NOT NULL DEFAULT '',
    archived_at     INTEGER NOT NULL DEFAULT 0,
    archived_reason TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE TABLE containers_services (
    id                TEXT PRIMARY KEY,
    stack_id          TEXT NOT NULL REFERENCES containers_stacks (id),
    name              TEXT NOT NULL,
    image             TEXT NOT NULL,
    repo              TEXT NOT NULL,
    tag               TEXT NOT NULL DEFAULT '',
    pinned            TEXT NOT NULL DEFAULT '',
    mounts            TEXT,
    profiles          TEXT,
    state             TEXT NOT NULL DEFAULT 'unknown',
    runtime_digest    TEXT NOT NULL DEFAULT '',
    runtime_image     TEXT NOT NULL DEFAULT '',
    runtime_error     TEXT NOT NULL DEFAULT '',
    runtime_version   TEXT NOT NULL DEFAULT '',
    candidate_digest  TEXT NOT NULL DEFAULT '',
    candidate_tag     TEXT NOT NULL DEFAULT '',
    candidate_match   TEXT NOT NULL DEFAULT '',
    candidate_arch    TEXT,
    candidate_version TEXT NOT NULL DEFAULT '',
    candidate_since   INTEGER NOT NULL DEFAULT 0,
    newer_tags        TEXT,
    generation        INTEGER NOT NULL DEFAULT 0,
    checked_at        INTEGER NOT NULL DEFAULT 0,
    check_error       TEXT NOT NULL DEFAULT '',
    auto_rollback     BOOL NOT NULL DEFAULT TRUE,
    backup_targets    TEXT,
    repo_url          TEXT NOT NULL DEFAULT '',
    health_timeout    INTEGER NOT NULL DEFAULT 0,
    min_age           INTEGER NOT NULL DEFAULT -1,
    archived_at       INTEGER NOT NULL DEFAULT 0,
    archived_reason   TEXT NOT NULL DEFAULT '',
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX containers_services_name ON containers_services (stack_id, name);
CREATE INDEX containers_services_repo ON containers_services (repo);

CREATE TABLE containers_ignores (
    id         TEXT PRIMARY KEY,
    service_id TEXT NOT NULL REFERENCES containers_services (id),
    enabled    BOOL NOT NULL,
    kind       TEXT NOT NULL,
    value      TEXT NOT NULL,
    note       TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX containers_ignores_service ON containers_ignores (service_id);

CREATE TABLE containers_settings (
    name       TEXT PRIMARY KEY,
    value      TEXT NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE containers_manifests (
    digest     TEXT PRIMARY KEY,
    platforms  TEXT,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE containers_snapshots (
    repo       TEXT NOT NULL,
    digest     TEXT NOT NULL,
    platform   TEXT NOT NULL,
    tags       TEXT,
    version    TEXT NOT NULL DEFAULT '',
    scan       TEXT NOT NULL,
    failed     BOOL NOT NULL DEFAULT FALSE,
    checked_at INTEGER NOT NULL,
    PRIMARY KEY (repo, digest, platform)
) STRICT;
CREATE INDEX containers_snapshots_checked ON containers_snapshots (checked_at);

CREATE TABLE containers_changes (
    id           TEXT PRIMARY KEY,
    job_id       TEXT NOT NULL,
    kind         TEXT NOT NULL CHECK (kind IN ('update', 'rollback')),
    stack_id     TEXT NOT NULL,
    service_id   TEXT NOT NULL,
    status       TEXT NOT NULL CHECK (status IN ('running', 'success', 'failed', 'rolled_back')),
    step         TEXT NOT NULL,
    image        TEXT NOT NULL,
    from_image   TEXT NOT NULL DEFAULT '',
    from_digest  TEXT NOT NULL DEFAULT '',
    from_version TEXT NOT NULL DEFAULT '',
    from_state   TEXT NOT NULL DEFAULT '',
    to_image     TEXT NOT NULL DEFAULT '',
    to_digest    TEXT NOT NULL DEFAULT '',
    to_version   TEXT NOT NULL DEFAULT '',
    error        TEXT NOT NULL DEFAULT '',
    started_at   INTEGER NOT NULL,
    finished_at  INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX containers_changes_job ON containers_changes (job_id, service_id);
CREATE INDEX containers_changes_running ON containers_changes (service_id) WHERE status = 'running';
CREATE INDEX containers_changes_service ON containers_changes (service_id, started_at, id);

CREATE TABLE containers_backups (
    id            TEXT PRIMARY KEY,
    stack_id      TEXT NOT NULL,
    service_id    TEXT NOT NULL,
    job_id        TEXT NOT NULL DEFAULT '',
    kind          TEXT NOT NULL,
    target        TEXT NOT NULL,
    destination   TEXT NOT NULL,
    status        TEXT NOT NULL,
    path          TEXT NOT NULL DEFAULT '',
    size          INTEGER NOT NULL DEFAULT 0,
    digest        TEXT NOT NULL DEFAULT '',
    error         TEXT NOT NULL DEFAULT '',
    created_at    INTEGER NOT NULL,
    finished_at   INTEGER NOT NULL DEFAULT 0,
    cleanup_after INTEGER NOT NULL DEFAULT 0,
    deleted_at    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX containers_backups_service ON containers_backups (service_id, created_at, id);
CREATE INDEX containers_backups_job ON containers_backups (job_id);
CREATE INDEX containers_backups_due ON containers_backups (cleanup_after) WHERE deleted_at = 0 AND cleanup_after > 0;

CREATE TABLE containers_samples (
    service_id   TEXT NOT NULL,
    at           INTEGER NOT NULL,
    cpu          REAL NOT NULL,
    mem_used     INTEGER NOT NULL,
    mem_limit    INTEGER NOT NULL,
    net_rx       INTEGER NOT NULL,
    net_tx       INTEGER NOT NULL,
    block_read   INTEGER NOT NULL,
    block_write  INTEGER NOT NULL,
    pids         INTEGER NOT NULL,
    containers   INTEGER NOT NULL,
    PRIMARY KEY (service_id, at)
) STRICT, WITHOUT ROWID;
CREATE INDEX containers_samples_at ON containers_samples (at);

CREATE TABLE containers_targets (
    input      TEXT PRIMARY KEY,
    kind       TEXT NOT NULL,
    owner      TEXT NOT NULL,
    warnings   TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE containers_repos (
    name          TEXT PRIMARY KEY,
    full_name     TEXT NOT NULL,
    selected      BOOL NOT NULL DEFAULT FALSE,
    visibility    TEXT NOT NULL DEFAULT '',
    last_activity INTEGER NOT NULL DEFAULT 0,
    webhook_state TEXT NOT NULL DEFAULT 'unknown',
    hook_id       TEXT NOT NULL DEFAULT '',
    job_id        TEXT NOT NULL DEFAULT '',
    removing      BOOL NOT NULL DEFAULT FALSE,
    last_op       TEXT NOT NULL DEFAULT '',
    last_error    TEXT NOT NULL DEFAULT '',
    last_sync_at  INTEGER NOT NULL DEFAULT 0,
    last_audit_at INTEGER NOT NULL DEFAULT 0,
    created_at    INTEGER NOT NULL
) STRICT;

CREATE TABLE containers_deliveries (
    delivery_id   TEXT PRIMARY KEY,
    first_at      INTEGER NOT NULL,
    last_at       INTEGER NOT NULL,
    owner         TEXT NOT NULL DEFAULT '',
    full_name     TEXT NOT NULL DEFAULT '',
    event         TEXT NOT NULL DEFAULT '',
    action        TEXT NOT NULL DEFAULT '',
    decision      TEXT NOT NULL CHECK (decision IN ('processed', 'ignored', 'rejected')),
    reason        TEXT NOT NULL DEFAULT '',
    status        INTEGER NOT NULL,
    job_ids       TEXT NOT NULL DEFAULT '',
    attempts      INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX containers_deliveries_last ON containers_deliveries (last_at, delivery_id);

CREATE TABLE containers_delivery_events (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    at   INTEGER NOT NULL,
    data TEXT NOT NULL
) STRICT;
CREATE INDEX containers_delivery_events_at ON containers_delivery_events (at);
