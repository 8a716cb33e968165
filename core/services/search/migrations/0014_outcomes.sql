-- +goose Up
-- What failed, was refused or is no search, for one token or key: neither all such requests nor all that the token or key has made are looked
-- through.
CREATE INDEX search_requests_token_outcome ON search_requests (token_id, outcome, id) WHERE outcome >= 2;
CREATE INDEX search_requests_key_outcome ON search_requests (key_id, outcome, id) WHERE outcome >= 2 AND key_id <> '';
CREATE INDEX search_requests_token_operation ON search_requests (token_id, operation, id) WHERE operation <> 'search';
CREATE INDEX search_requests_key_operation ON search_requests (key_id, operation, id) WHERE operation <> 'search' AND key_id <> '';
