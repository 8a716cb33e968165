-- +goose Up
-- Who has a brief of the last days, and the latest brief of a user.
CREATE INDEX release_briefs_date ON release_briefs (date, user_id);
CREATE INDEX release_briefs_user_date ON release_briefs (user_id, date);
