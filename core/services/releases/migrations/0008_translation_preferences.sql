-- +goose Up
-- The language in which a user reads translations, '' for that of the settings, and whether new releases are translated unasked.
ALTER TABLE release_preferences ADD COLUMN language TEXT NOT NULL DEFAULT '';
ALTER TABLE release_preferences ADD COLUMN auto_translate BOOL NOT NULL DEFAULT FALSE;
-- Whether summaries for a brief are on their way.
ALTER TABLE release_briefs ADD COLUMN awaits_summaries BOOL NOT NULL DEFAULT FALSE;
CREATE INDEX release_briefs_awaiting ON release_briefs (window_end) WHERE awaits_summaries;
