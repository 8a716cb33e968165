-- +goose Up
CREATE INDEX notify_deliveries_ended ON notify_deliveries (ended_at);
CREATE INDEX notify_messages_service ON notify_messages (service, id);
