-- +goose Up
-- The recipients that are paused after failures, where several cores send to them.
CREATE TABLE notify_pauses (
    channel   TEXT NOT NULL,
    recipient TEXT NOT NULL,
    failures  INTEGER NOT NULL,
    until_at  INTEGER NOT NULL,
    PRIMARY KEY (channel, recipient)
) STRICT;
