-- +goose Up
-- What searches ask of messages apart from words, by owner, and for administrators, who see the messages of all owners. Only those of unread
-- messages cost something for each message that arrives.
-- A sum is what no other index has: the planner would rather read the messages of all owners in the order of the table, and look at each.
CREATE INDEX mail_messages_read_by_owner ON mail_messages (owner_id, (seq + 0)) WHERE read_at > 0;
CREATE INDEX mail_messages_read ON mail_messages (seq) WHERE read_at > 0;
CREATE INDEX mail_messages_unread_by_owner ON mail_messages (owner_id, (seq + 0)) WHERE read_at = 0;
CREATE INDEX mail_messages_unread ON mail_messages (seq) WHERE read_at = 0;
CREATE INDEX mail_messages_code_by_owner ON mail_messages (owner_id, (seq + 0)) WHERE code <> '';
CREATE INDEX mail_messages_code ON mail_messages (seq) WHERE code <> '';
CREATE INDEX mail_messages_attachments_by_owner ON mail_messages (owner_id, (seq + 0)) WHERE attachments > 0;
CREATE INDEX mail_messages_attachments ON mail_messages (seq) WHERE attachments > 0;
