-- +goose Up
-- Texts that are translated or summarised, each once for everybody who asks: work_key is of the task, the language and the text.
CREATE TABLE release_translations (
    id              TEXT PRIMARY KEY,
    work_key        TEXT NOT NULL,
    task            TEXT NOT NULL,
    language        TEXT NOT NULL,
    title           TEXT NOT NULL,
    body            TEXT NOT NULL,
    release_id      INTEGER NOT NULL DEFAULT 0,
    tokens          INTEGER NOT NULL,
    state           TEXT NOT NULL,
    outcome         TEXT NOT NULL DEFAULT '',
    out_title       TEXT NOT NULL DEFAULT '',
    out_body        TEXT NOT NULL DEFAULT '',
    error_code      TEXT NOT NULL DEFAULT '',
    error_detail    TEXT NOT NULL DEFAULT '',
    model           TEXT NOT NULL DEFAULT '',
    batch_id        TEXT NOT NULL DEFAULT '',
    job_id          TEXT NOT NULL DEFAULT '',
    priority        INT NOT NULL,
    deadline        INTEGER NOT NULL,
    run_at          INTEGER NOT NULL,
    attempts        INT NOT NULL DEFAULT 0,
    progress        TEXT NOT NULL DEFAULT '',
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX release_translations_key ON release_translations (work_key);
CREATE INDEX release_translations_next ON release_translations (state, priority, deadline);
CREATE INDEX release_translations_job ON release_translations (job_id);
CREATE INDEX release_translations_updated ON release_translations (updated_at);

-- Which translation a release has, as long as its content has the hash.
CREATE TABLE release_translated (
    release_id  INTEGER NOT NULL REFERENCES release_entries (id) ON DELETE CASCADE,
    language    TEXT NOT NULL,
    kind        TEXT NOT NULL,
    hash        TEXT NOT NULL,
    work_id     TEXT NOT NULL,
    PRIMARY KEY (release_id, language, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX release_translated_work ON release_translated (work_id);

-- Requests for translations, by user. work_id is '' for one that came to nothing, whose outcome says why.
CREATE TABLE release_translation_requests (
    id              TEXT PRIMARY KEY,
    user_id         TEXT NOT NULL,
    producer_ref    TEXT NOT NULL,
    kind            TEXT NOT NULL,
    variant         TEXT NOT NULL,
    entity_id       TEXT NOT NULL,
    language        TEXT NOT NULL,
    slots           TEXT NOT NULL,
    work_id         TEXT NOT NULL,
    outcome         TEXT NOT NULL DEFAULT '',
    error_code      TEXT NOT NULL DEFAULT '',
    created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX release_translation_requests_created ON release_translation_requests (created_at);
CREATE INDEX release_translation_requests_user ON release_translation_requests (user_id, created_at);

CREATE TABLE release_translation_batches (
    id          TEXT PRIMARY KEY,
    job_id      TEXT NOT NULL,
    state       TEXT NOT NULL,
    reason      TEXT NOT NULL,
    works       INT NOT NULL,
    tokens      INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    finished_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX release_translation_batches_created ON release_translation_batches (created_at);

-- Calls of language models, with what they took.
CREATE TABLE release_model_calls (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    at              INTEGER NOT NULL,
    batch_id        TEXT NOT NULL,
    task            TEXT NOT NULL,
    model           TEXT NOT NULL,
    outcome         TEXT NOT NULL,
    input_tokens    INTEGER NOT NULL,
    output_tokens   INTEGER NOT NULL,
    cost_micros     INTEGER NOT NULL,
    duration_ms     INTEGER NOT NULL,
    parts           INT NOT NULL,
    message         TEXT NOT NULL
) STRICT;
CREATE INDEX release_model_calls_at ON release_model_calls (at);
