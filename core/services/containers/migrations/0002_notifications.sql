-- +goose Up
CREATE TABLE containers_new_versions (
    id                    TEXT PRIMARY KEY,
    service_id            TEXT NOT NULL,
    job_id                TEXT NOT NULL,
    reason                TEXT NOT NULL,
    message_id            TEXT NOT NULL DEFAULT '',
    image_ref             TEXT NOT NULL,
    image_tag             TEXT NOT NULL,
    current_tag           TEXT NOT NULL,
    current_display_tag   TEXT NOT NULL,
    candidate_tag         TEXT NOT NULL,
    candidate_display_tag TEXT NOT NULL,
    candidate_digest      TEXT NOT NULL,
    status                TEXT NOT NULL CHECK (status IN ('pending', 'sent', 'superseded', 'failed')),
    sent_channels         TEXT NOT NULL DEFAULT '[]',
    created_at            INTEGER NOT NULL,
    sent_at               INTEGER NOT NULL DEFAULT 0,
    superseded_at         INTEGER NOT NULL DEFAULT 0,
    last_error            TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX containers_new_versions_active ON containers_new_versions (service_id, candidate_digest) WHERE status IN ('pending', 'sent');
CREATE INDEX containers_new_versions_status ON containers_new_versions (status);
CREATE INDEX containers_new_versions_message ON containers_new_versions (message_id);
CREATE INDEX containers_new_versions_created ON containers_new_versions (created_at);

CREATE TABLE containers_push_subscriptions (
    id         TEXT PRIMARY KEY,
    endpoint   TEXT NOT NULL UNIQUE,
    p256dh     TEXT NOT NULL,
    auth       TEXT NOT NULL,
    label      TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
