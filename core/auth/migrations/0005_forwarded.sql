-- +goose Up
ALTER TABLE users ADD COLUMN forwarded BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE users SET forwarded = TRUE WHERE email LIKE '%@forwarded.invalid'
	OR id IN (SELECT target_id FROM account_events WHERE action = 'user.create' AND via = 'forward');
