-- +goose Up
-- A message with a code, or with attachments, has a word of its own in the index, with a sign that no other word has.
UPDATE mail_search AS w SET doc = doc || CAST('''¤code''' AS tsvector) FROM mail_messages AS m WHERE m.seq = w.seq AND m.code <> '';
UPDATE mail_search AS w SET doc = doc || CAST('''¤attachment''' AS tsvector) FROM mail_messages AS m WHERE m.seq = w.seq AND m.attachments > 0;
