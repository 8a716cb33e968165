-- +goose Up
ALTER TABLE containers_services ADD COLUMN check_reason TEXT NOT NULL DEFAULT '';
UPDATE containers_services SET check_reason = CASE
	WHEN LOWER(check_error) LIKE '%limits requests%' OR LOWER(check_error) LIKE '%toomanyrequests%' OR LOWER(check_error) LIKE '%rate limit%' THEN 'rate_limited'
	WHEN LOWER(check_error) LIKE '%unauthorized%' OR LOWER(check_error) LIKE '%401%' OR LOWER(check_error) LIKE '%403%' OR LOWER(check_error) LIKE '%denied%'
		OR LOWER(check_error) LIKE '%credential%' THEN 'access_denied'
	ELSE 'failed' END
	WHERE check_error <> '';

ALTER TABLE containers_changes ADD COLUMN reason TEXT NOT NULL DEFAULT '';
UPDATE containers_changes SET reason = CASE
	WHEN error = 'The job was canceled.' THEN 'canceled'
	WHEN LOWER(error) LIKE '%limits requests%' OR LOWER(error) LIKE '%toomanyrequests%' OR LOWER(error) LIKE '%rate limit%' THEN 'rate_limited'
	ELSE 'failed' END
	WHERE error <> '';
