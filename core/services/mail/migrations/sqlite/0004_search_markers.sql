-- +goose Up
-- A message with a code, or with attachments, has a word of its own in the index, with a sign that no other word has.
UPDATE mail_search SET body = body || ' ¤code' WHERE docid IN (SELECT seq FROM mail_messages WHERE code <> '');
UPDATE mail_search SET body = body || ' ¤attachment' WHERE docid IN (SELECT seq FROM mail_messages WHERE attachments > 0);
