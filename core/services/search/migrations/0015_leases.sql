-- +goose Up
-- What the cores that share the database have taken of the limits of tokens, by second (span 1), minute (60), day and month. start is in
-- minutes, of span 1 in seconds.
CREATE TABLE quota_leases (
	token_id  TEXT NOT NULL,
	span      INTEGER NOT NULL,
	start     INTEGER NOT NULL,
	node      TEXT NOT NULL,
	requests  INTEGER NOT NULL,
	credits   INTEGER NOT NULL,
	-- open says that the core may give some of it back.
	open      BOOLEAN NOT NULL,
	PRIMARY KEY (token_id, span, start, node)
) WITHOUT ROWID;
