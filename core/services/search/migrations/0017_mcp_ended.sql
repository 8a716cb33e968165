-- +goose Up
-- MCP sessions that a client has ended, by the hashes of their ids, until they would be over in any case.
CREATE TABLE search_mcp_ended (
	id        TEXT PRIMARY KEY,
	ended_at  INTEGER NOT NULL,
	until_at  INTEGER NOT NULL
);
CREATE INDEX search_mcp_ended_at ON search_mcp_ended (ended_at);
CREATE INDEX search_mcp_ended_until ON search_mcp_ended (until_at);
