-- +goose Up
-- Who deletes a release or a repository has the database look for the rows that refer to it, which it would find in the whole table only.
CREATE INDEX release_reads_release ON release_reads (release_id);
CREATE INDEX release_filters_repo ON release_filters (repo_id);
-- Few repositories cannot be read, and few users want to hear of releases or have them translated.
CREATE INDEX release_repos_failing ON release_repos (failures DESC, name_key) WHERE failures > 0;
CREATE INDEX release_preferences_wanting ON release_preferences (user_id) WHERE notify_releases OR auto_translate;
-- Each page tells how many notifications are unread, of all that a user ever had.
CREATE INDEX release_notifications_unread ON release_notifications (user_id) WHERE unread;
-- An account whose token is refused stays due: those are not looked through each time.
DROP INDEX release_host_accounts_due;
CREATE INDEX release_host_accounts_due ON release_host_accounts (state, due_at, id);
