-- +goose Up
INSERT INTO notify_settings (name, value, sealed_as, updated_at)
	SELECT name, value, 'containers_settings', updated_at FROM containers_settings WHERE name = 'notifications';
DELETE FROM containers_settings WHERE name = 'notifications';
INSERT INTO notify_subscriptions (id, endpoint, p256dh, auth, sealed_as, label, created_by, created_at, updated_at)
	SELECT id, endpoint, p256dh, auth, 'containers_push_subscriptions', label, created_by, created_at, updated_at FROM containers_push_subscriptions;
DROP TABLE containers_push_subscriptions;
