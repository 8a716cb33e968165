package testkit

import "testing"

// NotificationQueue stands for PostgreSQL's queue of notifications, which one database of a test can fill up for itself alone.
type NotificationQueue struct {
	t   testing.TB
	url string
}

// NewNotificationQueue puts the queue before the server's in a database that nobody uses yet.
func NewNotificationQueue(t testing.TB, url string) *NotificationQueue {
	t.Helper()
	exec(t, url, `CREATE SCHEMA notifications;
		CREATE TABLE notifications.queue (is_full BOOLEAN NOT NULL, is_held BOOLEAN NOT NULL);
		INSERT INTO notifications.queue VALUES (false, false);
		CREATE FUNCTION notifications.pg_notify(text, text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
			IF (SELECT is_full FROM notifications.queue) THEN
				RAISE EXCEPTION 'too many notifications in the NOTIFY queue' USING ERRCODE = 'program_limit_exceeded';
			END IF;
			PERFORM pg_catalog.pg_notify($1, $2);
		END $$;
		CREATE FUNCTION notifications.pg_notification_queue_usage() RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN
			UPDATE notifications.queue SET is_full = false WHERE is_full AND NOT is_held;
			RETURN (SELECT CASE WHEN is_full THEN 1 ELSE 0 END FROM notifications.queue);
		END $$;
		DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, notifications, pg_catalog', current_database()); END $$`)
	return &NotificationQueue{t, url}
}

// Fill makes the queue full, as if a session held it.
func (q *NotificationQueue) Fill() {
	q.t.Helper()
	exec(q.t, q.url, "UPDATE notifications.queue SET is_full = true, is_held = true")
}

// Release ends that session. Like PostgreSQL's, the queue stays full until somebody asks how full it is.
func (q *NotificationQueue) Release() {
	q.t.Helper()
	exec(q.t, q.url, "UPDATE notifications.queue SET is_held = false")
}
