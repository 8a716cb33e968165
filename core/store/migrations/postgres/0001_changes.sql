-- +goose Up
CREATE TABLE store_changes (
    id  BIGINT PRIMARY KEY CHECK (id = 1),
    seq BIGINT NOT NULL
);
INSERT INTO store_changes (id, seq) VALUES (1, 0);

-- +goose Down
DROP TABLE store_changes;
