CREATE TABLE public.account_events (
    id text NOT NULL,
    at bigint NOT NULL,
    action text NOT NULL,
    result text NOT NULL,
    actor_id text NOT NULL,
    actor_name text NOT NULL,
    via text NOT NULL,
    address text NOT NULL,
    target_id text NOT NULL,
    target_name text NOT NULL,
    user_id text NOT NULL,
    detail text NOT NULL,
    request_id text DEFAULT ''::text NOT NULL
);
CREATE TABLE public.api_keys (
    id text NOT NULL,
    user_id text NOT NULL,
    name text NOT NULL,
    hash bytea NOT NULL,
    sealed text NOT NULL,
    prefix text NOT NULL,
    scopes text NOT NULL,
    expires_at bigint NOT NULL,
    created_at bigint NOT NULL,
    revoked_at bigint NOT NULL,
    last_used_at bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.containers_backups (
    id text NOT NULL,
    stack_id text NOT NULL,
    service_id text NOT NULL,
    job_id text DEFAULT ''::text NOT NULL,
    kind text NOT NULL,
    target text NOT NULL,
    destination text NOT NULL,
    status text NOT NULL,
    path text DEFAULT ''::text NOT NULL,
    size bigint DEFAULT 0 NOT NULL,
    digest text DEFAULT ''::text NOT NULL,
    error text DEFAULT ''::text NOT NULL,
    created_at bigint NOT NULL,
    finished_at bigint DEFAULT 0 NOT NULL,
    cleanup_after bigint DEFAULT 0 NOT NULL,
    deleted_at bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.containers_changes (
    id text NOT NULL,
    job_id text NOT NULL,
    kind text NOT NULL,
    stack_id text NOT NULL,
    service_id text NOT NULL,
    status text NOT NULL,
    step text NOT NULL,
    image text NOT NULL,
    from_image text DEFAULT ''::text NOT NULL,
    from_digest text DEFAULT ''::text NOT NULL,
    from_version text DEFAULT ''::text NOT NULL,
    from_state text DEFAULT ''::text NOT NULL,
    to_image text DEFAULT ''::text NOT NULL,
    to_digest text DEFAULT ''::text NOT NULL,
    to_version text DEFAULT ''::text NOT NULL,
    error text DEFAULT ''::text NOT NULL,
    started_at bigint NOT NULL,
    finished_at bigint DEFAULT 0 NOT NULL,
    replicas bigint DEFAULT 0 NOT NULL,
    dependents text,
    CONSTRAINT containers_changes_kind_check CHECK ((kind = ANY (ARRAY['update'::text, 'rollback'::text]))),
    CONSTRAINT containers_changes_status_check CHECK ((status = ANY (ARRAY['running'::text, 'success'::text, 'failed'::text, 'rolled_back'::text])))
);
CREATE TABLE public.containers_deliveries (
    delivery_id text NOT NULL,
    first_at bigint NOT NULL,
    last_at bigint NOT NULL,
    owner text DEFAULT ''::text NOT NULL,
    full_name text DEFAULT ''::text NOT NULL,
    event text DEFAULT ''::text NOT NULL,
    action text DEFAULT ''::text NOT NULL,
    decision text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    status bigint NOT NULL,
    job_ids text DEFAULT ''::text NOT NULL,
    attempts bigint DEFAULT 1 NOT NULL,
    CONSTRAINT containers_deliveries_decision_check CHECK ((decision = ANY (ARRAY['processed'::text, 'ignored'::text, 'rejected'::text])))
);
CREATE TABLE public.containers_delivery_events (
    id bigint NOT NULL,
    at bigint NOT NULL,
    data text NOT NULL
);
ALTER TABLE public.containers_delivery_events ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.containers_delivery_events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.containers_ignores (
    id text NOT NULL,
    service_id text NOT NULL,
    enabled boolean NOT NULL,
    kind text NOT NULL,
    value text NOT NULL,
    note text DEFAULT ''::text NOT NULL,
    created_at bigint NOT NULL
);
CREATE TABLE public.containers_manifests (
    digest text NOT NULL,
    platforms text,
    created_at bigint NOT NULL
);
CREATE TABLE public.containers_new_versions (
    id text NOT NULL,
    service_id text NOT NULL,
    job_id text NOT NULL,
    reason text NOT NULL,
    message_id text DEFAULT ''::text NOT NULL,
    image_ref text NOT NULL,
    image_tag text NOT NULL,
    current_tag text NOT NULL,
    current_display_tag text NOT NULL,
    candidate_tag text NOT NULL,
    candidate_display_tag text NOT NULL,
    candidate_digest text NOT NULL,
    status text NOT NULL,
    sent_channels text DEFAULT '[]'::text NOT NULL,
    created_at bigint NOT NULL,
    sent_at bigint DEFAULT 0 NOT NULL,
    superseded_at bigint DEFAULT 0 NOT NULL,
    last_error text DEFAULT ''::text NOT NULL,
    CONSTRAINT containers_new_versions_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'sent'::text, 'superseded'::text, 'failed'::text])))
);
CREATE TABLE public.containers_projects (
    project text NOT NULL,
    status text NOT NULL,
    stack_id text DEFAULT ''::text NOT NULL,
    working_dir text DEFAULT ''::text NOT NULL,
    files text,
    last_seen_at bigint DEFAULT 0 NOT NULL,
    last_scan_at bigint DEFAULT 0 NOT NULL,
    last_error text DEFAULT ''::text NOT NULL,
    details text DEFAULT ''::text NOT NULL,
    archived_at bigint DEFAULT 0 NOT NULL,
    archived_reason text DEFAULT ''::text NOT NULL,
    move text,
    CONSTRAINT containers_projects_status_check CHECK ((status = ANY (ARRAY['active'::text, 'stopped'::text, 'missing'::text, 'invalid'::text])))
);
CREATE TABLE public.containers_push_subscriptions (
    id text NOT NULL,
    endpoint text NOT NULL,
    p256dh text NOT NULL,
    auth text NOT NULL,
    label text NOT NULL,
    created_by text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);
CREATE TABLE public.containers_repos (
    name text NOT NULL,
    full_name text NOT NULL,
    selected boolean DEFAULT false NOT NULL,
    visibility text DEFAULT ''::text NOT NULL,
    last_activity bigint DEFAULT 0 NOT NULL,
    webhook_state text DEFAULT 'unknown'::text NOT NULL,
    hook_id text DEFAULT ''::text NOT NULL,
    job_id text DEFAULT ''::text NOT NULL,
    removing boolean DEFAULT false NOT NULL,
    last_op text DEFAULT ''::text NOT NULL,
    last_error text DEFAULT ''::text NOT NULL,
    last_sync_at bigint DEFAULT 0 NOT NULL,
    last_audit_at bigint DEFAULT 0 NOT NULL,
    created_at bigint NOT NULL
);
CREATE TABLE public.containers_samples (
    service_id text NOT NULL,
    at bigint NOT NULL,
    cpu double precision NOT NULL,
    mem_used bigint NOT NULL,
    mem_limit bigint NOT NULL,
    net_rx bigint NOT NULL,
    net_tx bigint NOT NULL,
    block_read bigint NOT NULL,
    block_write bigint NOT NULL,
    pids bigint NOT NULL,
    containers bigint NOT NULL
);
CREATE TABLE public.containers_services (
    id text NOT NULL,
    stack_id text NOT NULL,
    name text NOT NULL,
    image text NOT NULL,
    repo text NOT NULL,
    tag text DEFAULT ''::text NOT NULL,
    pinned text DEFAULT ''::text NOT NULL,
    mounts text,
    profiles text,
    state text DEFAULT 'unknown'::text NOT NULL,
    runtime_digest text DEFAULT ''::text NOT NULL,
    runtime_image text DEFAULT ''::text NOT NULL,
    runtime_error text DEFAULT ''::text NOT NULL,
    runtime_version text DEFAULT ''::text NOT NULL,
    candidate_digest text DEFAULT ''::text NOT NULL,
    candidate_tag text DEFAULT ''::text NOT NULL,
    candidate_match text DEFAULT ''::text NOT NULL,
    candidate_arch text,
    candidate_version text DEFAULT ''::text NOT NULL,
    candidate_since bigint DEFAULT 0 NOT NULL,
    newer_tags text,
    generation bigint DEFAULT 0 NOT NULL,
    checked_at bigint DEFAULT 0 NOT NULL,
    check_error text DEFAULT ''::text NOT NULL,
    auto_rollback boolean DEFAULT true NOT NULL,
    backup_targets text,
    repo_url text DEFAULT ''::text NOT NULL,
    health_timeout bigint DEFAULT 0 NOT NULL,
    min_age bigint DEFAULT '-1'::integer NOT NULL,
    archived_at bigint DEFAULT 0 NOT NULL,
    archived_reason text DEFAULT ''::text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    built boolean DEFAULT false NOT NULL,
    tag_digest text DEFAULT ''::text NOT NULL
);
CREATE TABLE public.containers_settings (
    name text NOT NULL,
    value text NOT NULL,
    updated_at bigint NOT NULL
);
CREATE TABLE public.containers_snapshots (
    repo text NOT NULL,
    digest text NOT NULL,
    platform text NOT NULL,
    tags text,
    version text DEFAULT ''::text NOT NULL,
    scan text NOT NULL,
    failed boolean DEFAULT false NOT NULL,
    checked_at bigint NOT NULL
);
CREATE TABLE public.containers_stacks (
    id text NOT NULL,
    project text NOT NULL,
    working_dir text NOT NULL,
    files text,
    env_files text,
    archived_at bigint DEFAULT 0 NOT NULL,
    archived_reason text DEFAULT ''::text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    last_check_at bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.containers_targets (
    input text NOT NULL,
    kind text NOT NULL,
    owner text NOT NULL,
    warnings text DEFAULT ''::text NOT NULL,
    created_at bigint NOT NULL
);
CREATE TABLE public.developer_sessions (
    hash bytea NOT NULL,
    id text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL
);
CREATE TABLE public.goose_auth (
    id integer NOT NULL,
    version_id bigint NOT NULL,
    is_applied boolean NOT NULL,
    tstamp timestamp without time zone DEFAULT now() NOT NULL
);
ALTER TABLE public.goose_auth ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.goose_auth_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.goose_containers (
    id integer NOT NULL,
    version_id bigint NOT NULL,
    is_applied boolean NOT NULL,
    tstamp timestamp without time zone DEFAULT now() NOT NULL
);
ALTER TABLE public.goose_containers ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.goose_containers_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.goose_notify (
    id integer NOT NULL,
    version_id bigint NOT NULL,
    is_applied boolean NOT NULL,
    tstamp timestamp without time zone DEFAULT now() NOT NULL
);
ALTER TABLE public.goose_notify ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.goose_notify_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.goose_queue (
    id integer NOT NULL,
    version_id bigint NOT NULL,
    is_applied boolean NOT NULL,
    tstamp timestamp without time zone DEFAULT now() NOT NULL
);
ALTER TABLE public.goose_queue ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.goose_queue_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.goose_search (
    id integer NOT NULL,
    version_id bigint NOT NULL,
    is_applied boolean NOT NULL,
    tstamp timestamp without time zone DEFAULT now() NOT NULL
);
ALTER TABLE public.goose_search ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.goose_search_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.goose_store (
    id integer NOT NULL,
    version_id bigint NOT NULL,
    is_applied boolean NOT NULL,
    tstamp timestamp without time zone DEFAULT now() NOT NULL
);
ALTER TABLE public.goose_store ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.goose_store_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.job_checkpoints (
    job_id text NOT NULL,
    data text NOT NULL
);
CREATE TABLE public.job_events (
    job_id text NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    type text NOT NULL,
    data text NOT NULL,
    id bigint NOT NULL,
    job_type text DEFAULT ''::text NOT NULL
);
CREATE TABLE public.job_feed (
    last bigint NOT NULL
);
CREATE TABLE public.job_locks (
    resource text NOT NULL,
    job_id text NOT NULL
);
CREATE TABLE public.job_schedules (
    name text NOT NULL,
    cron text NOT NULL,
    next_at bigint NOT NULL
);
CREATE TABLE public.job_tags (
    tag text NOT NULL,
    created_at bigint NOT NULL,
    job_id text NOT NULL
);
CREATE TABLE public.jobs (
    id text NOT NULL,
    type text NOT NULL,
    state text NOT NULL,
    dedup_key text DEFAULT ''::text NOT NULL,
    actor text DEFAULT ''::text NOT NULL,
    payload text NOT NULL,
    result text DEFAULT ''::text NOT NULL,
    error_code text DEFAULT ''::text NOT NULL,
    error_message text DEFAULT ''::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    step text DEFAULT ''::text NOT NULL,
    percent bigint DEFAULT 0 NOT NULL,
    attempt bigint DEFAULT 0 NOT NULL,
    claims bigint DEFAULT 0 NOT NULL,
    recoveries bigint DEFAULT 0 NOT NULL,
    cancel_requested bigint DEFAULT 0 NOT NULL,
    last_seq bigint DEFAULT 0 NOT NULL,
    owner text DEFAULT ''::text NOT NULL,
    heartbeat_at bigint DEFAULT 0 NOT NULL,
    run_at bigint NOT NULL,
    created_at bigint NOT NULL,
    started_at bigint DEFAULT 0 NOT NULL,
    finished_at bigint DEFAULT 0 NOT NULL,
    detail text DEFAULT ''::text NOT NULL,
    CONSTRAINT jobs_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'running'::text, 'success'::text, 'failed'::text, 'rolled_back'::text, 'canceled'::text])))
);
CREATE TABLE public.notify_alerts (
    service text NOT NULL,
    dedup_key text NOT NULL,
    kind text NOT NULL,
    active boolean NOT NULL,
    raised_at bigint NOT NULL,
    told_at bigint NOT NULL,
    ended_at bigint NOT NULL
);
CREATE TABLE public.notify_deliveries (
    id text NOT NULL,
    message_id text NOT NULL,
    service text NOT NULL,
    channel text NOT NULL,
    name text NOT NULL,
    recipient text NOT NULL,
    once boolean NOT NULL,
    state text NOT NULL,
    attempts integer NOT NULL,
    error text NOT NULL,
    warnings text,
    created_at bigint NOT NULL,
    attempted_at bigint NOT NULL,
    ended_at bigint NOT NULL
);
CREATE TABLE public.notify_messages (
    id text NOT NULL,
    service text NOT NULL,
    key text NOT NULL,
    kind text NOT NULL,
    schema text NOT NULL,
    version integer NOT NULL,
    severity integer NOT NULL,
    title text NOT NULL,
    summary text NOT NULL,
    detail text NOT NULL,
    rich text NOT NULL,
    payload text NOT NULL,
    created_at bigint NOT NULL
);
CREATE TABLE public.passkey_challenges (
    hash bytea NOT NULL,
    kind text NOT NULL,
    user_id text NOT NULL,
    session_id text NOT NULL,
    name text NOT NULL,
    data text NOT NULL,
    expires_at bigint NOT NULL
);
CREATE TABLE public.passkeys (
    id text NOT NULL,
    user_id text NOT NULL,
    credential_id bytea NOT NULL,
    rp_id text NOT NULL,
    name text NOT NULL,
    record text NOT NULL,
    backed_up boolean NOT NULL,
    created_at bigint NOT NULL,
    last_used_at bigint NOT NULL,
    revoked_at bigint NOT NULL
);
CREATE TABLE public.quota_usage (
    token_id text NOT NULL,
    minute bigint NOT NULL,
    requests bigint NOT NULL,
    credits bigint NOT NULL,
    successes bigint NOT NULL,
    errors bigint NOT NULL,
    refused bigint NOT NULL
);
CREATE TABLE public.search_bodies (
    request_row bigint NOT NULL,
    request bytea,
    response bytea
);
CREATE TABLE public.search_key_events (
    id text NOT NULL,
    key_id text NOT NULL,
    "time" bigint NOT NULL,
    source text NOT NULL,
    actor text NOT NULL,
    operation text NOT NULL,
    before text NOT NULL,
    after text NOT NULL,
    reason text NOT NULL
);
CREATE TABLE public.search_keys (
    id text NOT NULL,
    hash bytea NOT NULL,
    sealed text NOT NULL,
    group_name text NOT NULL,
    state text NOT NULL,
    reason text NOT NULL,
    until bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    deleted_at bigint NOT NULL,
    quota_limit bigint DEFAULT 0 NOT NULL,
    quota_used bigint DEFAULT 0 NOT NULL,
    quota_synced_at bigint DEFAULT 0 NOT NULL,
    quota_error text DEFAULT ''::text NOT NULL,
    state_changed_at bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.search_marks (
    name text NOT NULL,
    at bigint NOT NULL
);
CREATE TABLE public.search_requests (
    id bigint NOT NULL,
    "time" bigint NOT NULL,
    request_id text NOT NULL,
    token_id text NOT NULL,
    key_id text NOT NULL,
    backend text NOT NULL,
    operation text NOT NULL,
    outcome bigint NOT NULL,
    status bigint NOT NULL,
    upstream_status bigint NOT NULL,
    credits bigint NOT NULL,
    duration_us bigint NOT NULL,
    upstream_us bigint NOT NULL,
    plugin_us bigint NOT NULL,
    attempts bigint NOT NULL,
    request_bytes bigint NOT NULL,
    response_bytes bigint NOT NULL,
    client text NOT NULL,
    error_code text NOT NULL,
    cached boolean DEFAULT false NOT NULL
);
CREATE TABLE public.search_research (
    resource_id text NOT NULL,
    token_id text NOT NULL,
    key_id text NOT NULL,
    created_at bigint NOT NULL,
    backend text DEFAULT ''::text NOT NULL
);
CREATE TABLE public.search_rollups (
    scope text NOT NULL,
    subject text NOT NULL,
    step bigint NOT NULL,
    start bigint NOT NULL,
    operation text NOT NULL,
    requests bigint NOT NULL,
    successes bigint NOT NULL,
    errors bigint NOT NULL,
    refused bigint NOT NULL,
    credits bigint NOT NULL,
    duration_us bigint NOT NULL,
    last_at bigint NOT NULL,
    h0 bigint NOT NULL,
    h1 bigint NOT NULL,
    h2 bigint NOT NULL,
    h3 bigint NOT NULL,
    h4 bigint NOT NULL,
    h5 bigint NOT NULL,
    h6 bigint NOT NULL,
    h7 bigint NOT NULL,
    h8 bigint NOT NULL,
    h9 bigint NOT NULL,
    h10 bigint NOT NULL,
    h11 bigint NOT NULL,
    h12 bigint NOT NULL,
    h13 bigint NOT NULL
);
CREATE TABLE public.search_tokens (
    id text NOT NULL,
    hash bytea NOT NULL,
    sealed text NOT NULL,
    enabled boolean NOT NULL,
    note text NOT NULL,
    group_name text NOT NULL,
    owner_id text NOT NULL,
    expires_at bigint NOT NULL,
    limit_requests bigint,
    limit_credits_hour bigint,
    limit_credits_day bigint,
    limit_credits_month bigint,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    deleted_at bigint NOT NULL,
    cache_ttl bigint,
    limit_requests_minute bigint
);
CREATE TABLE public.sessions (
    hash bytea NOT NULL,
    id text NOT NULL,
    user_id text NOT NULL,
    key_id text NOT NULL,
    began_with text NOT NULL,
    user_agent text NOT NULL,
    address text NOT NULL,
    created_at bigint NOT NULL,
    seen_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    passkey_id text DEFAULT ''::text NOT NULL,
    checked_at bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.setup_links (
    hash bytea NOT NULL,
    user_id text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL
);
CREATE TABLE public.store_changes (
    id bigint NOT NULL,
    seq bigint NOT NULL,
    CONSTRAINT store_changes_id_check CHECK ((id = 1))
);
CREATE TABLE public.users (
    id text NOT NULL,
    email text NOT NULL,
    name text NOT NULL,
    role text NOT NULL,
    disabled boolean NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    forwarded boolean DEFAULT false NOT NULL
);
INSERT INTO public.account_events VALUES ('evt_01M81R1RGY75KVQ2VQXQQSZ4JC', 1795355107870, 'user.create', 'ok', '', 'patchbay', '', '', 'usr_01M81R1RGX290K06VBZH0BVPQN', 'ann@example.org', 'usr_01M81R1RGX290K06VBZH0BVPQN', 'role: admin', '');
INSERT INTO public.account_events VALUES ('evt_01M81R1RGZZWV56M9WCNHV292W', 1795355107871, 'api_key.create', 'ok', '', 'patchbay', '', '', 'key_01M81R1RGZZWV56M9WCKZCV9SK', 'Initial API key', 'usr_01M81R1RGX290K06VBZH0BVPQN', 'scopes: all', '');
INSERT INTO public.account_events VALUES ('evt_01M81R1RH0WCTPXX6CH3B5ZD81', 1795355107872, 'api_key.create', 'ok', '', 'patchbay', '', '', 'key_01M81R1RH0WCTPXX6CH204T2W8', 'script', 'usr_01M81R1RGX290K06VBZH0BVPQN', 'scopes: search', '');
INSERT INTO public.account_events VALUES ('evt_01M81R1RH1YQH0BGH06R0KYT83', 1795355107873, 'user.create', 'ok', '', 'patchbay', '', '', 'usr_01M81R1RH1YQH0BGH06P8N1E38', 'ben@example.org', 'usr_01M81R1RH1YQH0BGH06P8N1E38', 'role: member', '');
INSERT INTO public.account_events VALUES ('evt_01M81R1RH2J8NA4FZ0HQZJD1X3', 1795355107874, 'api_key.create', 'ok', '', 'patchbay', '', '', 'key_01M81R1RH2J8NA4FZ0HQ9WX2G6', 'Initial API key', 'usr_01M81R1RH1YQH0BGH06P8N1E38', 'scopes: all', '');
INSERT INTO public.account_events VALUES ('evt_01M81R1RH2J8NA4FZ0HVQH0MH9', 1795355107874, 'api_key.create', 'ok', '', 'patchbay', '', '', 'key_01M81R1RH2J8NA4FZ0HRQ61JG4', 'script', 'usr_01M81R1RH1YQH0BGH06P8N1E38', 'scopes: search', '');
INSERT INTO public.api_keys VALUES ('key_01M81R1RGZZWV56M9WCKZCV9SK', 'usr_01M81R1RGX290K06VBZH0BVPQN', 'Initial API key', '\x6bb4fb08ce73c1d0f6a98f567ea8306fd5ff6002fb31f3903264d664479c4cc6', 'v1:4bb06f8e:lmOFhDeOGNOcVu5qqkceztKgba7+5hUgWoxwtdKcNMoH5+ANtO7NQAS3hmwDL7ahL3E8+jdsbQMf3xsZG78IyODf2pR3Wl9KmN140PVh', 'svc_ak_BwiVg', '', 0, 1795355107871, 0, 0);
INSERT INTO public.api_keys VALUES ('key_01M81R1RH0WCTPXX6CH204T2W8', 'usr_01M81R1RGX290K06VBZH0BVPQN', 'script', '\x4589e1a28633835d7f27decd2032b29b2b61ae6dd4f0d42dd3775bdf46f374b7', 'v1:4bb06f8e:AnH2j+SbEGjawFfsUQMcXXrzzc/E0gYZuRZjGDmpkqEhkf6wcDVNFF4UcQxSGDdBzq3unkPm9UcfS16ZbCsNf5bn1sGByvFcgvI2CYkt', 'svc_ak_fBttk', 'search', 0, 1795355107872, 0, 0);
INSERT INTO public.api_keys VALUES ('key_01M81R1RH2J8NA4FZ0HQ9WX2G6', 'usr_01M81R1RH1YQH0BGH06P8N1E38', 'Initial API key', '\x9e2749502a7d0312ac0fd184bebc8e8cb4b2af2af0d3116f5460d143efa72c81', 'v1:4bb06f8e:YJ47Fm3vOoS7rF867BRBky15LylXQYum+GJ516QI1frNlaHbm/ZQb1jcGMOjaCuxtxSHc1NMrmb5jf3ke6F4jaRaDyoe1kq1s+yP/ZrX', 'svc_ak_bZt5a', '', 0, 1795355107874, 0, 0);
INSERT INTO public.api_keys VALUES ('key_01M81R1RH2J8NA4FZ0HRQ61JG4', 'usr_01M81R1RH1YQH0BGH06P8N1E38', 'script', '\x1b4d9a587e1bf9035f3b2efd5211a2731198d43a29e4ad57440e237f96249b77', 'v1:4bb06f8e:z0lyA5WFF0nLhL/G5Sp4zoBxBzW6sprsn8NKaRWv3FncmDzyqJ6hRf3ngjY2cUHMLpp4FoHDxXIRwG4K6jP1s0SnQjYKQYaGtImVV+8y', 'svc_ak_B3zES', 'search', 0, 1795355107874, 0, 0);
INSERT INTO public.containers_manifests VALUES ('sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0', '[{"os":"linux","arch":"amd64","digest":"sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0"}]', 1795355108434);
INSERT INTO public.containers_manifests VALUES ('sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb1', '[{"os":"linux","arch":"amd64","digest":"sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb1"}]', 1795355108433);
INSERT INTO public.containers_new_versions VALUES ('nvn_01M81R233NQ77WX04ZG2EJF4MN', 'svc_01M81R1RZJ0AHBZ307CDDDQ5W2', 'job_01M81R1S1XZ4VRWDYCNG5PJMVS', 'schedule', 'ntm_01M81R233Y78SWV5E4XVS1BB4C', 'registry.example/blog/db:1', '1', '1', '', '1', '', 'sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb1', 'sent', '["chat","webPush","webhook"]', 1795355118710, 1795355118768, 0, '');
INSERT INTO public.containers_new_versions VALUES ('nvn_01M81R233PHP74N4J936H2KBMR', 'svc_01M81R1RZJ0AHBZ307CDF2A2XS', 'job_01M81R1S1XZ4VRWDYCNG5PJMVS', 'schedule', 'ntm_01M81R233Y78SWV5E4XVS1BB4C', 'registry.example/blog/web:1', '1', '1', '', '1', '', 'sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0', 'sent', '["chat","webPush","webhook"]', 1795355118710, 1795355118768, 0, '');
INSERT INTO public.containers_new_versions VALUES ('nvn_01M81R233PHP74N4J93899JXMP', 'svc_01M81R1RZTSMZAYS8DPNT48BMS', 'job_01M81R1S1XZ4VRWDYCNG5PJMVS', 'schedule', 'ntm_01M81R233Y78SWV5E4XVS1BB4C', 'registry.example/wiki/app:1', '1', '1', '', '1', '', 'sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0', 'sent', '["chat","webPush","webhook"]', 1795355118710, 1795355118768, 0, '');
INSERT INTO public.containers_projects VALUES ('blog', 'active', 'stk_01M81R1RZJ0AHBZ307CAD2PR6Q', '/srv/blog', '["/srv/blog/compose.yaml"]', 1795355108337, 1795355108337, '', '', 0, '', NULL);
INSERT INTO public.containers_projects VALUES ('wiki', 'active', 'stk_01M81R1RZTSMZAYS8DPJFQ8J4N', '/srv/wiki', '["/srv/wiki/compose.yaml"]', 1795355108345, 1795355108345, '', '', 0, '', NULL);
INSERT INTO public.containers_push_subscriptions VALUES ('psh_01M81R1RT2JK627PT8WTZ6C7QR', 'https://push.example/one', 'v1:4bb06f8e:bg1WHHgKfuH6sBX0kCdWlwZ1bdRtLtjAvQo9leAnhwDDaznzszV7P3kHawxm2jYmN9a799QbcKK+juSjkTMcfy3viayVuss4jPDl40jdMbcN27M5pOUVkw9gxXN6QppYCkRR1ZxA1REXwOm+xSxYq+ZHUQ==', 'v1:4bb06f8e:yW2pK5qqEyY0TYYTDTRR+E022LFiqhVfHXx6vbm5Q5lsNwlqDZvahIOYk8AlL518UrY=', 'browser one', 'anonymous', 1795355108162, 1795355108162);
INSERT INTO public.containers_push_subscriptions VALUES ('psh_01M81R1RT2JK627PT8WWW9ESMR', 'https://push.example/two', 'v1:4bb06f8e:rl9wHBpwgYCf+CfintNasALFS8cZ8Y0zZqTM2zT4ooxj8c8W0eFEx/MALTszYyt985XT51yvWyCo9bgbFg9QaaHkesJ5uiqHqmNDZCqkEw+aprGKq9UU89u2+xd06ZzEyoesXvRC1NsuJbYenBp683WNcw==', 'v1:4bb06f8e:jRwZBkt5YyclbDlC72lB1GlnlwfSnoYB7d5SYEJ+EUjfm+MYKpSOBSY/Ssv6JnTNHqg=', 'browser two', 'anonymous', 1795355108162, 1795355108162);
INSERT INTO public.containers_services VALUES ('svc_01M81R1RZJ0AHBZ307CDF2A2XS', 'stk_01M81R1RZJ0AHBZ307CAD2PR6Q', 'web', 'registry.example/blog/web:1', 'registry.example/blog/web', '1', '', NULL, NULL, 'running', 'sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa0', 'sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa0', '', '', 'sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0', '1', 'match', '["linux/amd64"]', '', 1795355108434, '[]', 1, 1795355108437, '', true, '{"bindPaths":{},"volumeNames":{}}', '', 0, -1, 0, '', 1795355108338, 1795355108437, false, 'sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0');
INSERT INTO public.containers_services VALUES ('svc_01M81R1RZJ0AHBZ307CDDDQ5W2', 'stk_01M81R1RZJ0AHBZ307CAD2PR6Q', 'db', 'registry.example/blog/db:1', 'registry.example/blog/db', '1', '', NULL, NULL, 'running', 'sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1', 'sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1', '', '', 'sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb1', '1', 'match', '["linux/amd64"]', '', 1795355108435, '[]', 1, 1795355108437, '', true, '{"bindPaths":{},"volumeNames":{}}', '', 0, -1, 0, '', 1795355108338, 1795355108437, false, 'sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb1');
INSERT INTO public.containers_services VALUES ('svc_01M81R1RZTSMZAYS8DPNT48BMS', 'stk_01M81R1RZTSMZAYS8DPJFQ8J4N', 'app', 'registry.example/wiki/app:1', 'registry.example/wiki/app', '1', '', NULL, NULL, 'running', 'sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa0', 'sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa0', '', '', 'sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0', '1', 'match', '["linux/amd64"]', '', 1795355108437, '[]', 1, 1795355108437, '', true, '{"bindPaths":{},"volumeNames":{}}', '', 0, -1, 0, '', 1795355108346, 1795355108437, false, 'sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0');
INSERT INTO public.containers_settings VALUES ('notifications', '{"events":{"update":true,"newVersion":true,"ghcrWebhookAnomaly":false},"chat":{"enabled":true,"botToken":"v1:4bb06f8e:l3OcK61db0eyuE9mnVmhaFPcCTwe0RaBXlLlXcl+RdqIoNXr0OXFe+5pPhj5/HMw+fMG","chatId":"-100200300"},"email":{"enabled":false,"smtpUrl":"v1:4bb06f8e:gTF7+yhTCNds6onxkDKgqjzD7jY8bmRy40ayIpdaB0vdPU6AccfTQnnQCRXrHbFWo0TXF0B/6F31xD5vwabgH+cllaRxM4rzappEWC8A3TYsT4LxFVCsgaxY"},"webhook":{"enabled":true,"url":"v1:4bb06f8e:aNXFtm4EOCtXmG5/CaVte31hVrp8pQXaVlVSemFxIHb5tFr32Bj2PUL2tW2ULut1gTq7SWkXblNeDg==","secret":"v1:4bb06f8e:H3Oj90u7308nuequvXGB6+5n9vjt7G5K5xz7p4xdJg2M4Cg+ZTy+68aRBR6ksbBdQEGTTXCl0WOyGHVrJfc="},"webPush":{"enabled":true,"vapidPublicKey":"BPhorumtx_T6Ovk3q3coa7z-UfjYCj_RjGFO2zCDLWPn0x_-HkgYGtPC0N8JxXMiggPifK9ER1HA8RXRbuNZW48","vapidPrivateKey":"v1:4bb06f8e:ZZ09Vos56fC1aunN09e/f2jj5sYK4v3nWz6lttgfF+NVwRPPVHWnC0Eee2RNcK8gD3CU/r9Peekly0oCr0hRU/d9k1/O+40=","vapidSubject":"mailto:ops@example.org"},"instances":{"chat":"notify.chatmain","email":"notify.emailmain","webPush":"notify.webpushmain","webhook":"notify.webhookmain"},"channels":{"main":false}}', 1795355108161);
INSERT INTO public.containers_settings VALUES ('system', '{"backup":{"enabled":true,"requireSuccess":true,"baseDir":"/data/backups","skipTargetsOverBytes":104857600},"resourceMonitor":{"enabled":true,"sampleIntervalSeconds":30,"retentionDays":7},"schedules":{"updateCheck":{"enabled":true,"cron":"15 4 * * *"},"ghcrWebhookAudit":{"enabled":true,"cron":"0 3 * * *"}},"instance":{"publicBaseUrl":"https://patchbay.example/"}}', 1795355119045);
INSERT INTO public.containers_settings VALUES ('host_packages', '{"enabled":false,"callbackUrl":"https://patchbay.example/api/webhooks/host-packages","pat":"v1:4bb06f8e:mQUHMvN9PbleU1QcP7OJAYtvAjrLNum7m5eaQCo/Hzy/FNCY","secret":"v1:4bb06f8e:AtK06aE9IkHWCO89NUM7Ubm0zNl4I+PwpF+qBX3wZv6/4PRsjXnDyAKcXijWuyrujlUI+EfLGsidz5B87YKG0Z0swCWARPlpcHZuIQ=="}', 1795355119048);
INSERT INTO public.containers_stacks VALUES ('stk_01M81R1RZJ0AHBZ307CAD2PR6Q', 'blog', '/srv/blog', '["/srv/blog/compose.yaml"]', NULL, 0, '', 1795355108338, 1795355108338, 1795355108449);
INSERT INTO public.containers_stacks VALUES ('stk_01M81R1RZTSMZAYS8DPJFQ8J4N', 'wiki', '/srv/wiki', '["/srv/wiki/compose.yaml"]', NULL, 0, '', 1795355108346, 1795355108361, 1795355108449);
INSERT INTO public.goose_auth VALUES (1, 0, true, '2026-11-22 13:45:06.443415');
INSERT INTO public.goose_auth VALUES (2, 1, true, '2026-11-22 13:45:06.715679');
INSERT INTO public.goose_auth VALUES (3, 2, true, '2026-11-22 13:45:06.771525');
INSERT INTO public.goose_auth VALUES (4, 3, true, '2026-11-22 13:45:06.829479');
INSERT INTO public.goose_auth VALUES (5, 4, true, '2026-11-22 13:45:06.875721');
INSERT INTO public.goose_auth VALUES (6, 5, true, '2026-11-22 13:45:06.880553');
INSERT INTO public.goose_auth VALUES (7, 6, true, '2026-11-22 13:45:06.881829');
INSERT INTO public.goose_auth VALUES (8, 7, true, '2026-11-22 13:45:06.882704');
INSERT INTO public.goose_containers VALUES (1, 0, true, '2026-11-22 13:45:06.449727');
INSERT INTO public.goose_containers VALUES (2, 1, true, '2026-11-22 13:45:07.229118');
INSERT INTO public.goose_containers VALUES (3, 2, true, '2026-11-22 13:45:07.579972');
INSERT INTO public.goose_containers VALUES (4, 3, true, '2026-11-22 13:45:07.859387');
INSERT INTO public.goose_containers VALUES (5, 4, true, '2026-11-22 13:45:07.860194');
INSERT INTO public.goose_containers VALUES (6, 5, true, '2026-11-22 13:45:07.860549');
INSERT INTO public.goose_containers VALUES (7, 6, true, '2026-11-22 13:45:07.860895');
INSERT INTO public.goose_notify VALUES (1, 0, true, '2026-11-22 13:45:06.440006');
INSERT INTO public.goose_notify VALUES (2, 1, true, '2026-11-22 13:45:06.702668');
INSERT INTO public.goose_notify VALUES (3, 2, true, '2026-11-22 13:45:06.706436');
INSERT INTO public.goose_notify VALUES (4, 3, true, '2026-11-22 13:45:06.713987');
INSERT INTO public.goose_queue VALUES (1, 0, true, '2026-11-22 13:45:06.436563');
INSERT INTO public.goose_queue VALUES (2, 1, true, '2026-11-22 13:45:06.45456');
INSERT INTO public.goose_queue VALUES (3, 2, true, '2026-11-22 13:45:06.668964');
INSERT INTO public.goose_search VALUES (1, 0, true, '2026-11-22 13:45:06.446522');
INSERT INTO public.goose_search VALUES (2, 1, true, '2026-11-22 13:45:06.8861');
INSERT INTO public.goose_search VALUES (3, 5, true, '2026-11-22 13:45:07.158413');
INSERT INTO public.goose_search VALUES (4, 6, true, '2026-11-22 13:45:07.160446');
INSERT INTO public.goose_search VALUES (5, 10, true, '2026-11-22 13:45:07.162224');
INSERT INTO public.goose_search VALUES (6, 11, true, '2026-11-22 13:45:07.22747');
INSERT INTO public.goose_store VALUES (1, 0, true, '2026-11-22 13:45:06.431389');
INSERT INTO public.goose_store VALUES (2, 1, true, '2026-11-22 13:45:06.452455');
INSERT INTO public.job_events VALUES ('job_01M81R1RT546PYDETC39TAMWTW', 1, 1795355108166, 'queued', '{"state":"queued"}', 1, 'notify.deliver');
INSERT INTO public.job_events VALUES ('job_01M81R1RT546PYDETC39TAMWTW', 2, 1795355108189, 'running', '{"attempt":1,"state":"running"}', 2, 'notify.deliver');
INSERT INTO public.job_events VALUES ('job_01M81R1RT546PYDETC39TAMWTW', 3, 1795355108203, 'finished', '{"result":{"state":"delivered"},"state":"success"}', 3, 'notify.deliver');
INSERT INTO public.job_events VALUES ('job_01M81R1RY2BKM8ZQM2Y8DRDMPD', 1, 1795355108291, 'queued', '{"state":"queued"}', 4, 'containers.discovery');
INSERT INTO public.job_events VALUES ('job_01M81R1RY2BKM8ZQM2Y8DRDMPD', 2, 1795355108293, 'running', '{"attempt":1,"state":"running"}', 5, 'containers.discovery');
INSERT INTO public.job_events VALUES ('job_01M81R1RY2BKM8ZQM2Y8DRDMPD', 3, 1795355108295, 'job_progress', '{"phase":"scan","message":"looking for compose projects","current":0,"total":0,"percent":0,"updatedAt":"2026-11-22T13:45:08.294Z"}', 6, 'containers.discovery');
INSERT INTO public.job_events VALUES ('job_01M81R1RY2BKM8ZQM2Y8DRDMPD', 4, 1795355108378, 'job_progress', '{"phase":"done","message":"looking for compose projects","current":0,"total":0,"percent":100,"updatedAt":"2026-11-22T13:45:08.374Z"}', 7, 'containers.discovery');
INSERT INTO public.job_events VALUES ('job_01M81R1RY2BKM8ZQM2Y8DRDMPD', 5, 1795355108398, 'finished', '{"result":{"scan":{"startedAt":"2026-11-22T13:45:08.295Z","durationMs":78,"summary":{"projectsSeen":2,"stacksCreated":2,"stacksUpdated":0,"stacksSkipped":0,"stacksFailed":0,"stacksMarkedMissing":0,"stacksStopped":0,"stacksArchived":0},"actions":[],"actionsOmitted":2}},"state":"success"}', 8, 'containers.discovery');
INSERT INTO public.job_events VALUES ('job_01M81R1S1XZ4VRWDYCNG5PJMVS', 1, 1795355108413, 'queued', '{"state":"queued"}', 9, 'containers.check');
INSERT INTO public.job_events VALUES ('job_01M81R1S1XZ4VRWDYCNG5PJMVS', 2, 1795355108416, 'running', '{"attempt":1,"state":"running"}', 10, 'containers.check');
INSERT INTO public.job_events VALUES ('job_01M81R1S1XZ4VRWDYCNG5PJMVS', 3, 1795355108421, 'job_progress', '{"phase":"prepare","message":"reading what runs","current":0,"total":0,"percent":0,"updatedAt":"2026-11-22T13:45:08.417Z"}', 11, 'containers.check');
INSERT INTO public.job_events VALUES ('job_01M81R1S1XZ4VRWDYCNG5PJMVS', 4, 1795355108436, 'job_progress', '{"phase":"scan","message":"checked blog / web","current":1,"total":3,"percent":33,"currentTarget":"blog / web","updatedAt":"2026-11-22T13:45:08.434Z"}', 12, 'containers.check');
INSERT INTO public.job_events VALUES ('job_01M81R1S1XZ4VRWDYCNG5PJMVS', 5, 1795355108452, 'job_progress', '{"phase":"done","message":"checked blog / web","current":1,"total":3,"percent":100,"currentTarget":"blog / web","updatedAt":"2026-11-22T13:45:08.450Z"}', 13, 'containers.check');
INSERT INTO public.job_events VALUES ('job_01M81R1S3K7D2BZBX17QR2ETMT', 1, 1795355108468, 'queued', '{"state":"queued"}', 14, 'containers.announce');
INSERT INTO public.job_events VALUES ('job_01M81R1S1XZ4VRWDYCNG5PJMVS', 6, 1795355108469, 'finished', '{"result":{"hostPlatform":"linux/amd64","scope":"all","stackIds":["stk_01M81R1RZJ0AHBZ307CAD2PR6Q","stk_01M81R1RZTSMZAYS8DPJFQ8J4N"],"servicesChecked":3,"servicesFailed":0,"servicesWithCandidate":3,"newVersions":{"count":3,"services":[{"stackId":"stk_01M81R1RZJ0AHBZ307CAD2PR6Q","stackName":"blog","serviceId":"svc_01M81R1RZJ0AHBZ307CDDDQ5W2","serviceName":"db","imageRef":"registry.example/blog/db:1","currentTag":"1","currentDigest":"sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1","currentDisplayTag":"1","candidateTag":"1","candidateDisplayTag":"1","candidateDigest":"sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb1"},{"stackId":"stk_01M81R1RZJ0AHBZ307CAD2PR6Q","stackName":"blog","serviceId":"svc_01M81R1RZJ0AHBZ307CDF2A2XS","serviceName":"web","imageRef":"registry.example/blog/web:1","currentTag":"1","currentDigest":"sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa0","currentDisplayTag":"1","candidateTag":"1","candidateDisplayTag":"1","candidateDigest":"sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0"},{"stackId":"stk_01M81R1RZTSMZAYS8DPJFQ8J4N","stackName":"wiki","serviceId":"svc_01M81R1RZTSMZAYS8DPNT48BMS","serviceName":"app","imageRef":"registry.example/wiki/app:1","currentTag":"1","currentDigest":"sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa0","currentDisplayTag":"1","candidateTag":"1","candidateDisplayTag":"1","candidateDigest":"sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0"}]}},"state":"success"}', 15, 'containers.check');
INSERT INTO public.job_events VALUES ('job_01M81R1S3K7D2BZBX17QR2ETMT', 2, 1795355108472, 'running', '{"attempt":1,"state":"running"}', 16, 'containers.announce');
INSERT INTO public.job_events VALUES ('job_01M81R2343NNMY0073J265F8VZ', 1, 1795355118723, 'queued', '{"state":"queued"}', 17, 'notify.deliver');
INSERT INTO public.job_events VALUES ('job_01M81R23441GJXGWGC194HDW4C', 1, 1795355118724, 'queued', '{"state":"queued"}', 18, 'notify.deliver');
INSERT INTO public.job_events VALUES ('job_01M81R234FM0XZ9RZXT5G8JRFD', 1, 1795355118735, 'queued', '{"state":"queued"}', 19, 'notify.deliver');
INSERT INTO public.job_events VALUES ('job_01M81R234GN1D3NV10WCXF0133', 1, 1795355118736, 'queued', '{"state":"queued"}', 20, 'notify.deliver');
INSERT INTO public.job_events VALUES ('job_01M81R2343NNMY0073J265F8VZ', 2, 1795355118744, 'running', '{"attempt":1,"state":"running"}', 21, 'notify.deliver');
INSERT INTO public.job_events VALUES ('job_01M81R23441GJXGWGC194HDW4C', 2, 1795355118746, 'running', '{"attempt":1,"state":"running"}', 22, 'notify.deliver');
INSERT INTO public.job_events VALUES ('job_01M81R234FM0XZ9RZXT5G8JRFD', 2, 1795355118750, 'running', '{"attempt":1,"state":"running"}', 23, 'notify.deliver');
INSERT INTO public.job_events VALUES ('job_01M81R234GN1D3NV10WCXF0133', 2, 1795355118765, 'running', '{"attempt":1,"state":"running"}', 24, 'notify.deliver');
INSERT INTO public.job_events VALUES ('job_01M81R1S3K7D2BZBX17QR2ETMT', 3, 1795355118766, 'finished', '{"result":{"skipped":""},"state":"success"}', 25, 'containers.announce');
INSERT INTO public.job_events VALUES ('job_01M81R2343NNMY0073J265F8VZ', 3, 1795355118782, 'finished', '{"result":{"state":"delivered"},"state":"success"}', 26, 'notify.deliver');
INSERT INTO public.job_events VALUES ('job_01M81R234GN1D3NV10WCXF0133', 3, 1795355118793, 'finished', '{"result":{"state":"delivered"},"state":"success"}', 27, 'notify.deliver');
INSERT INTO public.job_events VALUES ('job_01M81R23441GJXGWGC194HDW4C', 3, 1795355118803, 'finished', '{"result":{"state":"delivered"},"state":"success"}', 28, 'notify.deliver');
INSERT INTO public.job_events VALUES ('job_01M81R234FM0XZ9RZXT5G8JRFD', 3, 1795355118966, 'finished', '{"result":{"state":"delivered"},"state":"success"}', 29, 'notify.deliver');
INSERT INTO public.job_events VALUES ('job_01M81R23EEE2H04BK95Q91Y12J', 1, 1795355119153, 'queued', '{"state":"queued"}', 30, 'notify.deliver');
INSERT INTO public.job_events VALUES ('job_01M81R23EEE2H04BK95Q91Y12J', 2, 1795355119311, 'running', '{"attempt":1,"state":"running"}', 31, 'notify.deliver');
INSERT INTO public.job_events VALUES ('job_01M81R23EEE2H04BK95Q91Y12J', 3, 1795355119317, 'finished', '{"result":{"state":"delivered"},"state":"success"}', 32, 'notify.deliver');
INSERT INTO public.job_feed VALUES (32);
INSERT INTO public.job_schedules VALUES ('containers.scheduled_check', 'CRON_TZ=Local 15 4 * * *', 1795407300000);
INSERT INTO public.job_schedules VALUES ('containers.scheduled_audit', 'CRON_TZ=Local 0 3 * * *', 1795402800000);
INSERT INTO public.jobs VALUES ('job_01M81R1RT546PYDETC39TAMWTW', 'notify.deliver', 'success', 'ntf_01M81R1RT40ZCTTTY94ZXXVFNJ', 'containers', '{"id":"ntf_01M81R1RT40ZCTTTY94ZXXVFNJ"}', '{"state":"delivered"}', '', '', '', '', 100, 1, 1, 0, 0, 3, '', 1795355108169, 1795355108165, 1795355108165, 1795355108169, 1795355108202, '');
INSERT INTO public.jobs VALUES ('job_01M81R1RY2BKM8ZQM2Y8DRDMPD', 'containers.discovery', 'success', 'all', 'anonymous', '{"scope":"all","reason":"ui"}', '{"scan":{"startedAt":"2026-11-22T13:45:08.295Z","durationMs":78,"summary":{"projectsSeen":2,"stacksCreated":2,"stacksUpdated":0,"stacksSkipped":0,"stacksFailed":0,"stacksMarkedMissing":0,"stacksStopped":0,"stacksArchived":0},"actions":[],"actionsOmitted":2}}', '', '', '', '', 100, 1, 1, 0, 0, 5, '', 1795355108292, 1795355108290, 1795355108290, 1795355108292, 1795355108381, '{"phase":"done","message":"looking for compose projects","current":0,"total":0,"percent":100,"updatedAt":"2026-11-22T13:45:08.374Z"}');
INSERT INTO public.jobs VALUES ('job_01M81R2343NNMY0073J265F8VZ', 'notify.deliver', 'success', 'ntf_01M81R233Z2APNC8HDYQX5WAYF', 'containers', '{"id":"ntf_01M81R233Z2APNC8HDYQX5WAYF"}', '{"state":"delivered"}', '', '', '', '', 100, 1, 1, 0, 0, 3, '', 1795355118743, 1795355118723, 1795355118723, 1795355118743, 1795355118775, '');
INSERT INTO public.jobs VALUES ('job_01M81R234GN1D3NV10WCXF0133', 'notify.deliver', 'success', 'ntf_01M81R234GVGA1C2WTK0CP7J86', 'containers', '{"id":"ntf_01M81R234GVGA1C2WTK0CP7J86"}', '{"state":"delivered"}', '', '', '', '', 100, 1, 1, 0, 0, 3, '', 1795355118765, 1795355118736, 1795355118736, 1795355118765, 1795355118789, '');
INSERT INTO public.jobs VALUES ('job_01M81R23441GJXGWGC194HDW4C', 'notify.deliver', 'success', 'ntf_01M81R23448CXHP910GECFPTMZ', 'containers', '{"id":"ntf_01M81R23448CXHP910GECFPTMZ"}', '{"state":"delivered"}', '', '', '', '', 100, 1, 1, 0, 0, 3, '', 1795355118745, 1795355118724, 1795355118724, 1795355118745, 1795355118801, '');
INSERT INTO public.jobs VALUES ('job_01M81R234FM0XZ9RZXT5G8JRFD', 'notify.deliver', 'success', 'ntf_01M81R234ANSKYCK92V6S0XNFS', 'containers', '{"id":"ntf_01M81R234ANSKYCK92V6S0XNFS"}', '{"state":"delivered"}', '', '', '', '', 100, 1, 1, 0, 0, 3, '', 1795355118748, 1795355118735, 1795355118735, 1795355118748, 1795355118891, '');
INSERT INTO public.jobs VALUES ('job_01M81R1S1XZ4VRWDYCNG5PJMVS', 'containers.check', 'success', 'all/', 'anonymous', '{"scope":"all","reason":"schedule"}', '{"hostPlatform":"linux/amd64","scope":"all","stackIds":["stk_01M81R1RZJ0AHBZ307CAD2PR6Q","stk_01M81R1RZTSMZAYS8DPJFQ8J4N"],"servicesChecked":3,"servicesFailed":0,"servicesWithCandidate":3,"newVersions":{"count":3,"services":[{"stackId":"stk_01M81R1RZJ0AHBZ307CAD2PR6Q","stackName":"blog","serviceId":"svc_01M81R1RZJ0AHBZ307CDDDQ5W2","serviceName":"db","imageRef":"registry.example/blog/db:1","currentTag":"1","currentDigest":"sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1","currentDisplayTag":"1","candidateTag":"1","candidateDisplayTag":"1","candidateDigest":"sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb1"},{"stackId":"stk_01M81R1RZJ0AHBZ307CAD2PR6Q","stackName":"blog","serviceId":"svc_01M81R1RZJ0AHBZ307CDF2A2XS","serviceName":"web","imageRef":"registry.example/blog/web:1","currentTag":"1","currentDigest":"sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa0","currentDisplayTag":"1","candidateTag":"1","candidateDisplayTag":"1","candidateDigest":"sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0"},{"stackId":"stk_01M81R1RZTSMZAYS8DPJFQ8J4N","stackName":"wiki","serviceId":"svc_01M81R1RZTSMZAYS8DPNT48BMS","serviceName":"app","imageRef":"registry.example/wiki/app:1","currentTag":"1","currentDigest":"sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa0","currentDisplayTag":"1","candidateTag":"1","candidateDisplayTag":"1","candidateDigest":"sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0"}]}}', '', '', '', '', 100, 1, 1, 0, 0, 6, '', 1795355108415, 1795355108413, 1795355108413, 1795355108415, 1795355108456, '{"phase":"done","message":"checked blog / web","current":1,"total":3,"percent":100,"currentTarget":"blog / web","updatedAt":"2026-11-22T13:45:08.450Z"}');
INSERT INTO public.jobs VALUES ('job_01M81R1S3K7D2BZBX17QR2ETMT', 'containers.announce', 'success', 'announce/job_01M81R1S1XZ4VRWDYCNG5PJMVS', 'anonymous', '{"jobId":"job_01M81R1S1XZ4VRWDYCNG5PJMVS"}', '{"skipped":""}', '', '', '', '', 100, 1, 1, 0, 0, 3, '', 1795355117872, 1795355108467, 1795355108467, 1795355108472, 1795355118750, '');
INSERT INTO public.jobs VALUES ('job_01M81R23EEE2H04BK95Q91Y12J', 'notify.deliver', 'success', 'ntf_01M81R23EBSC4E2F7S0W7B2K29', 'search', '{"id":"ntf_01M81R23EBSC4E2F7S0W7B2K29"}', '{"state":"delivered"}', '', '', '', '', 100, 1, 1, 0, 0, 3, '', 1795355119274, 1795355119054, 1795355119054, 1795355119274, 1795355119316, '');
INSERT INTO public.notify_alerts VALUES ('search', 'pool_empty/search.main', 'pool_empty', true, 1795355119049, 1795355119049, 0);
INSERT INTO public.notify_deliveries VALUES ('ntf_01M81R1RT40ZCTTTY94ZXXVFNJ', 'ntm_01M81R1RT352CMABGYFRAE630M', 'containers', 'notify.emailmain', 'email', '', true, 'delivered', 1, '', NULL, 1795355108163, 1795355108196, 1795355108196);
INSERT INTO public.notify_deliveries VALUES ('ntf_01M81R233Z2APNC8HDYQX5WAYF', 'ntm_01M81R233Y78SWV5E4XVS1BB4C', 'containers', 'notify.chatmain', 'chat', '', false, 'delivered', 1, '', NULL, 1795355118718, 1795355118752, 1795355118765);
INSERT INTO public.notify_deliveries VALUES ('ntf_01M81R234GVGA1C2WTK0CP7J86', 'ntm_01M81R233Y78SWV5E4XVS1BB4C', 'containers', 'notify.webpushmain', 'webPush', 'psh_01M81R1RT2JK627PT8WWW9ESMR', false, 'delivered', 1, '', NULL, 1795355118718, 1795355118776, 1795355118782);
INSERT INTO public.notify_deliveries VALUES ('ntf_01M81R23448CXHP910GECFPTMZ', 'ntm_01M81R233Y78SWV5E4XVS1BB4C', 'containers', 'notify.webhookmain', 'webhook', '', false, 'delivered', 1, '', NULL, 1795355118718, 1795355118788, 1795355118789);
INSERT INTO public.notify_deliveries VALUES ('ntf_01M81R234ANSKYCK92V6S0XNFS', 'ntm_01M81R233Y78SWV5E4XVS1BB4C', 'containers', 'notify.webpushmain', 'webPush', 'psh_01M81R1RT2JK627PT8WTZ6C7QR', false, 'delivered', 1, '', NULL, 1795355118718, 1795355118817, 1795355118859);
INSERT INTO public.notify_deliveries VALUES ('ntf_01M81R23EBSC4E2F7S0W7B2K29', 'ntm_01M81R23EBSC4E2F7S0TBYDRS1', 'search', 'notify.main', 'main', '', false, 'delivered', 1, '', NULL, 1795355119051, 1795355119314, 1795355119314);
INSERT INTO public.notify_messages VALUES ('ntm_01M81R1RT352CMABGYFRAE630M', 'containers', 'ntm_01M81R1RT352CMABGYFRAE630M', 'notification_test', 'svc.notification.test.v2', 2, 1, 'Notification test', 'A test of mail alone.', 'Note: no public base URL is configured for this instance (system settings), so these are paths within the site.
Open settings: /settings', '{"markdown":{"title":"Notification test","summary":"A test of mail alone.","detail":"Note: no public base URL is configured for this instance (system settings), so these are paths within the site.\n\nOpen settings: `/settings`"},"html":{"title":"Notification test","summary":"\u003cp\u003eA test of mail alone.\u003c/p\u003e","detail":"\u003cp\u003eNote: no public base URL is configured for this instance (system settings), so these are paths within the site.\u003c/p\u003e\u003cp\u003eOpen settings: \u003ccode\u003e/settings\u003c/code\u003e\u003c/p\u003e"},"card":{"kind":"Notification test","status":"Test","tone":"info","subject":"Patchbay test","lines":[{"label":"Channel","value":"email"},{"label":"Version","value":"1.0.0"}],"footer":"2026-11-22 13:45 UTC"}}', '{"schema":"svc.notification.test.v2","kind":"notification_test","sentAt":"2026-11-22T13:45:08.163Z","url":"/settings","human":{"title":"Notification test","summary":"A test of mail alone.","detail":"Note: no public base URL is configured for this instance (system settings), so these are paths within the site.\n\nOpen settings: /settings"},"debug":{"version":"1.0.0","appVersion":"1.0.0","source":"containers","requestedChannel":"email","rawMessage":"A test of mail alone."}}', 1795355108163);
INSERT INTO public.notify_messages VALUES ('ntm_01M81R233Y78SWV5E4XVS1BB4C', 'containers', 'new_version_discovered/job_01M81R1S1XZ4VRWDYCNG5PJMVS', 'new_version_discovered', 'svc.notification.new_version_discovered.v2', 2, 1, '3 services have new versions', '', 'Note: no public base URL is configured for this instance (system settings), so these are paths within the site.
- blog / db: /services/stk_01M81R1RZJ0AHBZ307CAD2PR6Q/svc_01M81R1RZJ0AHBZ307CDDDQ5W2
- blog / web: /services/stk_01M81R1RZJ0AHBZ307CAD2PR6Q/svc_01M81R1RZJ0AHBZ307CDF2A2XS
- wiki / app: /services/stk_01M81R1RZTSMZAYS8DPJFQ8J4N/svc_01M81R1RZTSMZAYS8DPNT48BMS
View check job: /queue/job_01M81R1S1XZ4VRWDYCNG5PJMVS', '{"markdown":{"title":"3 services have new versions","detail":"Note: no public base URL is configured for this instance (system settings), so these are paths within the site.\n\n- blog / db: `/services/stk_01M81R1RZJ0AHBZ307CAD2PR6Q/svc_01M81R1RZJ0AHBZ307CDDDQ5W2`\n- blog / web: `/services/stk_01M81R1RZJ0AHBZ307CAD2PR6Q/svc_01M81R1RZJ0AHBZ307CDF2A2XS`\n- wiki / app: `/services/stk_01M81R1RZTSMZAYS8DPJFQ8J4N/svc_01M81R1RZTSMZAYS8DPNT48BMS`\n\nView check job: `/queue/job_01M81R1S1XZ4VRWDYCNG5PJMVS`"},"html":{"title":"3 services have new versions","detail":"\u003cp\u003eNote: no public base URL is configured for this instance (system settings), so these are paths within the site.\u003c/p\u003e\u003cul\u003e\u003cli\u003eblog / db: \u003ccode\u003e/services/stk_01M81R1RZJ0AHBZ307CAD2PR6Q/svc_01M81R1RZJ0AHBZ307CDDDQ5W2\u003c/code\u003e\u003c/li\u003e\u003cli\u003eblog / web: \u003ccode\u003e/services/stk_01M81R1RZJ0AHBZ307CAD2PR6Q/svc_01M81R1RZJ0AHBZ307CDF2A2XS\u003c/code\u003e\u003c/li\u003e\u003cli\u003ewiki / app: \u003ccode\u003e/services/stk_01M81R1RZTSMZAYS8DPJFQ8J4N/svc_01M81R1RZTSMZAYS8DPNT48BMS\u003c/code\u003e\u003c/li\u003e\u003c/ul\u003e\u003cp\u003eView check job: \u003ccode\u003e/queue/job_01M81R1S1XZ4VRWDYCNG5PJMVS\u003c/code\u003e\u003c/p\u003e"},"card":{"kind":"New version found","status":"New version","tone":"info","subject":"3 services","lines":[{"label":"blog / db","value":"New version"},{"label":"blog / web","value":"New version"},{"label":"wiki / app","value":"New version"}],"footer":"2026-11-22 13:45 UTC"}}', '{"schema":"svc.notification.new_version_discovered.v2","kind":"new_version_discovered","sentAt":"2026-11-22T13:45:18.718Z","human":{"title":"3 services have new versions","summary":"3 services have new versions:\n- blog / db\n- blog / web\n- wiki / app","detail":"Note: no public base URL is configured for this instance (system settings), so these are paths within the site.\n\n- blog / db: /services/stk_01M81R1RZJ0AHBZ307CAD2PR6Q/svc_01M81R1RZJ0AHBZ307CDDDQ5W2\n- blog / web: /services/stk_01M81R1RZJ0AHBZ307CAD2PR6Q/svc_01M81R1RZJ0AHBZ307CDF2A2XS\n- wiki / app: /services/stk_01M81R1RZTSMZAYS8DPJFQ8J4N/svc_01M81R1RZTSMZAYS8DPNT48BMS\n\nView check job: /queue/job_01M81R1S1XZ4VRWDYCNG5PJMVS"},"check":{"jobId":"job_01M81R1S1XZ4VRWDYCNG5PJMVS","status":"success","scope":"all","servicesChecked":3,"newVersions":3},"links":{"primaryUrl":"/queue/job_01M81R1S1XZ4VRWDYCNG5PJMVS","jobUrl":"/queue/job_01M81R1S1XZ4VRWDYCNG5PJMVS","serviceUrls":[{"stackId":"stk_01M81R1RZJ0AHBZ307CAD2PR6Q","stackName":"blog","serviceId":"svc_01M81R1RZJ0AHBZ307CDDDQ5W2","serviceName":"db","url":"/services/stk_01M81R1RZJ0AHBZ307CAD2PR6Q/svc_01M81R1RZJ0AHBZ307CDDDQ5W2","currentTag":"1","candidateTag":"1","currentDisplayTag":"1","candidateDisplayTag":"1"},{"stackId":"stk_01M81R1RZJ0AHBZ307CAD2PR6Q","stackName":"blog","serviceId":"svc_01M81R1RZJ0AHBZ307CDF2A2XS","serviceName":"web","url":"/services/stk_01M81R1RZJ0AHBZ307CAD2PR6Q/svc_01M81R1RZJ0AHBZ307CDF2A2XS","currentTag":"1","candidateTag":"1","currentDisplayTag":"1","candidateDisplayTag":"1"},{"stackId":"stk_01M81R1RZTSMZAYS8DPJFQ8J4N","stackName":"wiki","serviceId":"svc_01M81R1RZTSMZAYS8DPNT48BMS","serviceName":"app","url":"/services/stk_01M81R1RZTSMZAYS8DPJFQ8J4N/svc_01M81R1RZTSMZAYS8DPNT48BMS","currentTag":"1","candidateTag":"1","currentDisplayTag":"1","candidateDisplayTag":"1"}],"truncated":{"serviceUrlsOmitted":0}},"debug":{"version":"1.0.0","appVersion":"1.0.0","source":"containers"}}', 1795355118718);
INSERT INTO public.notify_messages VALUES ('ntm_01M81R23EBSC4E2F7S0TBYDRS1', 'search', 'ntm_01M81R23EBSC4E2F7S0TBYDRS1', 'search.pool_empty', '', 1, 4, 'No upstream key can be used', '', '', '{}', '{"id":"","kind":"search.pool_empty","schemaVersion":1,"sentAt":"2026-11-22T13:45:19.051Z","service":"search","severity":"error","status":"raised","title":"No upstream key can be used","text":"","fields":{}}', 1795355119051);
INSERT INTO public.search_key_events VALUES ('kev_01M81R1RN44Z37PX5S4HNT2ACQ', 'g1JWto', 1795348830000, 'system', '', 'added', '', 'active', '');
INSERT INTO public.search_key_events VALUES ('kev_01M81R1RSX0W0E3743JBP7ZK8B', 'MKbJNJ', 1795348830000, 'system', '', 'added', '', 'active', '');
INSERT INTO public.search_keys VALUES ('g1JWto', '\x283706bc328920c025291a9a6778eb51c62309268e08664b5acd8984f2b91e67', 'v1:4bb06f8e:OJ69QCuKRrn+a8OeE7yl790/EsmYlLCPclX/fMXkPnGmrLDLMlJicjzV24Fzm+vbhHkvbzUP', 'default', 'active', '', 0, 1795348830000, 1795348830000, 0, 0, 0, 0, '', 1795348830000);
INSERT INTO public.search_keys VALUES ('MKbJNJ', '\x2e602f43992d1aff758c137de370eb45d677d2bf2f9faf76e57e25654e80f986', 'v1:4bb06f8e:97UlrYge0HW62uHx9IdAPlDMhO1Wmd/upaOmlgIjQEhzG8CtDccLaSSW/Y7o/LcqouNqiHdl', 'default', 'active', '', 0, 1795348830000, 1795348830000, 0, 0, 0, 0, '', 1795348830000);
INSERT INTO public.search_marks VALUES ('rollups', -1);
INSERT INTO public.search_tokens VALUES ('1M27', '\x079a32b20fefddfe4cfa0143af9e53a106543ab022b447270fe7808a15ff2c12', 'v1:4bb06f8e:JKEP3b0NhyRyAc0MWXD2sdi/9zfMkolDuLjfu03Zd8VVHIFgtWYR5Q8vZ2On/9t09Hyl2ZiryoYBtGl0', true, 'token of ann@example.org', 'people', 'usr_01M81R1RGX290K06VBZH0BVPQN', 0, NULL, NULL, NULL, NULL, 1795348830000, 1795348830000, 0, NULL, NULL);
INSERT INTO public.search_tokens VALUES ('BRfl', '\x7211a6df3d990ec7541881d5f937bda0c724d3b062d40f2b4c94d3306806aa8a', 'v1:4bb06f8e:tgjG68SQ2AYZ5Wis5mMJnxcL+aWNZTlkI6FA81jZGxAaGPynZMcRViOV1tYr+eCMbVY3YnxQil4cnCY9', true, 'token of ben@example.org', 'people', 'usr_01M81R1RH1YQH0BGH06P8N1E38', 0, NULL, NULL, NULL, NULL, 1795348830000, 1795348830000, 0, NULL, NULL);
INSERT INTO public.store_changes VALUES (1, 0);
INSERT INTO public.users VALUES ('usr_01M81R1RGX290K06VBZH0BVPQN', 'ann@example.org', 'ANN', 'admin', false, 1795355107869, 1795355107869, false);
INSERT INTO public.users VALUES ('usr_01M81R1RH1YQH0BGH06P8N1E38', 'ben@example.org', 'BEN', 'member', false, 1795355107873, 1795355107873, false);
SELECT pg_catalog.setval('public.containers_delivery_events_id_seq', 1, false);
SELECT pg_catalog.setval('public.goose_auth_id_seq', 8, true);
SELECT pg_catalog.setval('public.goose_containers_id_seq', 7, true);
SELECT pg_catalog.setval('public.goose_notify_id_seq', 4, true);
SELECT pg_catalog.setval('public.goose_queue_id_seq', 3, true);
SELECT pg_catalog.setval('public.goose_search_id_seq', 6, true);
SELECT pg_catalog.setval('public.goose_store_id_seq', 2, true);
ALTER TABLE ONLY public.account_events
    ADD CONSTRAINT account_events_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_hash_key UNIQUE (hash);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.containers_backups
    ADD CONSTRAINT containers_backups_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.containers_changes
    ADD CONSTRAINT containers_changes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.containers_deliveries
    ADD CONSTRAINT containers_deliveries_pkey PRIMARY KEY (delivery_id);
ALTER TABLE ONLY public.containers_delivery_events
    ADD CONSTRAINT containers_delivery_events_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.containers_ignores
    ADD CONSTRAINT containers_ignores_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.containers_manifests
    ADD CONSTRAINT containers_manifests_pkey PRIMARY KEY (digest);
ALTER TABLE ONLY public.containers_new_versions
    ADD CONSTRAINT containers_new_versions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.containers_projects
    ADD CONSTRAINT containers_projects_pkey PRIMARY KEY (project);
ALTER TABLE ONLY public.containers_push_subscriptions
    ADD CONSTRAINT containers_push_subscriptions_endpoint_key UNIQUE (endpoint);
ALTER TABLE ONLY public.containers_push_subscriptions
    ADD CONSTRAINT containers_push_subscriptions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.containers_repos
    ADD CONSTRAINT containers_repos_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.containers_samples
    ADD CONSTRAINT containers_samples_pkey PRIMARY KEY (service_id, at);
ALTER TABLE ONLY public.containers_services
    ADD CONSTRAINT containers_services_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.containers_settings
    ADD CONSTRAINT containers_settings_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.containers_snapshots
    ADD CONSTRAINT containers_snapshots_pkey PRIMARY KEY (repo, digest, platform);
ALTER TABLE ONLY public.containers_stacks
    ADD CONSTRAINT containers_stacks_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.containers_targets
    ADD CONSTRAINT containers_targets_pkey PRIMARY KEY (input);
ALTER TABLE ONLY public.developer_sessions
    ADD CONSTRAINT developer_sessions_id_key UNIQUE (id);
ALTER TABLE ONLY public.developer_sessions
    ADD CONSTRAINT developer_sessions_pkey PRIMARY KEY (hash);
ALTER TABLE ONLY public.goose_auth
    ADD CONSTRAINT goose_auth_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.goose_containers
    ADD CONSTRAINT goose_containers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.goose_notify
    ADD CONSTRAINT goose_notify_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.goose_queue
    ADD CONSTRAINT goose_queue_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.goose_search
    ADD CONSTRAINT goose_search_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.goose_store
    ADD CONSTRAINT goose_store_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.job_checkpoints
    ADD CONSTRAINT job_checkpoints_pkey PRIMARY KEY (job_id);
ALTER TABLE ONLY public.job_events
    ADD CONSTRAINT job_events_pkey PRIMARY KEY (job_id, seq);
ALTER TABLE ONLY public.job_locks
    ADD CONSTRAINT job_locks_pkey PRIMARY KEY (resource);
ALTER TABLE ONLY public.job_schedules
    ADD CONSTRAINT job_schedules_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.job_tags
    ADD CONSTRAINT job_tags_pkey PRIMARY KEY (tag, created_at, job_id);
ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.notify_alerts
    ADD CONSTRAINT notify_alerts_pkey PRIMARY KEY (service, dedup_key);
ALTER TABLE ONLY public.notify_deliveries
    ADD CONSTRAINT notify_deliveries_pkey1 PRIMARY KEY (id);
ALTER TABLE ONLY public.notify_messages
    ADD CONSTRAINT notify_messages_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.passkey_challenges
    ADD CONSTRAINT passkey_challenges_pkey PRIMARY KEY (hash);
ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT passkeys_credential_id_key UNIQUE (credential_id);
ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT passkeys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.quota_usage
    ADD CONSTRAINT quota_usage_pkey PRIMARY KEY (token_id, minute);
ALTER TABLE ONLY public.search_bodies
    ADD CONSTRAINT search_bodies_pkey PRIMARY KEY (request_row);
ALTER TABLE ONLY public.search_key_events
    ADD CONSTRAINT search_key_events_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.search_keys
    ADD CONSTRAINT search_keys_hash_key UNIQUE (hash);
ALTER TABLE ONLY public.search_keys
    ADD CONSTRAINT search_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.search_marks
    ADD CONSTRAINT search_marks_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.search_requests
    ADD CONSTRAINT search_requests_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.search_research
    ADD CONSTRAINT search_research_pkey PRIMARY KEY (resource_id);
ALTER TABLE ONLY public.search_rollups
    ADD CONSTRAINT search_rollups_pkey PRIMARY KEY (scope, subject, step, start, operation);
ALTER TABLE ONLY public.search_tokens
    ADD CONSTRAINT search_tokens_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_id_key UNIQUE (id);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (hash);
ALTER TABLE ONLY public.setup_links
    ADD CONSTRAINT setup_links_pkey PRIMARY KEY (hash);
ALTER TABLE ONLY public.store_changes
    ADD CONSTRAINT store_changes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_email_key UNIQUE (email);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);
CREATE INDEX account_events_action ON public.account_events USING btree (action, id);
CREATE INDEX account_events_actor ON public.account_events USING btree (actor_id, id);
CREATE INDEX account_events_at ON public.account_events USING btree (at);
CREATE INDEX account_events_user ON public.account_events USING btree (user_id, id);
CREATE INDEX api_keys_user ON public.api_keys USING btree (user_id);
CREATE INDEX containers_backups_due ON public.containers_backups USING btree (cleanup_after) WHERE ((deleted_at = 0) AND (cleanup_after > 0));
CREATE INDEX containers_backups_job ON public.containers_backups USING btree (job_id);
CREATE INDEX containers_backups_service ON public.containers_backups USING btree (service_id, created_at, id);
CREATE UNIQUE INDEX containers_changes_job ON public.containers_changes USING btree (job_id, service_id);
CREATE INDEX containers_changes_running ON public.containers_changes USING btree (service_id) WHERE (status = 'running'::text);
CREATE INDEX containers_changes_service ON public.containers_changes USING btree (service_id, started_at, id);
CREATE INDEX containers_deliveries_last ON public.containers_deliveries USING btree (last_at, delivery_id);
CREATE INDEX containers_delivery_events_at ON public.containers_delivery_events USING btree (at);
CREATE INDEX containers_ignores_service ON public.containers_ignores USING btree (service_id);
CREATE UNIQUE INDEX containers_new_versions_active ON public.containers_new_versions USING btree (service_id, candidate_digest) WHERE (status = ANY (ARRAY['pending'::text, 'sent'::text]));
CREATE INDEX containers_new_versions_created ON public.containers_new_versions USING btree (created_at);
CREATE INDEX containers_new_versions_message ON public.containers_new_versions USING btree (message_id);
CREATE INDEX containers_new_versions_status ON public.containers_new_versions USING btree (status);
CREATE INDEX containers_samples_at ON public.containers_samples USING btree (at);
CREATE UNIQUE INDEX containers_services_name ON public.containers_services USING btree (stack_id, name);
CREATE INDEX containers_services_repo ON public.containers_services USING btree (repo);
CREATE INDEX containers_snapshots_checked ON public.containers_snapshots USING btree (checked_at);
CREATE UNIQUE INDEX containers_stacks_project ON public.containers_stacks USING btree (project);
CREATE UNIQUE INDEX job_events_id ON public.job_events USING btree (id);
CREATE INDEX job_locks_job ON public.job_locks USING btree (job_id);
CREATE INDEX job_tags_job ON public.job_tags USING btree (job_id);
CREATE INDEX jobs_created ON public.jobs USING btree (created_at, id);
CREATE UNIQUE INDEX jobs_dedup ON public.jobs USING btree (type, dedup_key) WHERE ((state = ANY (ARRAY['queued'::text, 'running'::text])) AND (dedup_key <> ''::text));
CREATE INDEX jobs_due ON public.jobs USING btree (state, run_at, id) WHERE (state = 'queued'::text);
CREATE INDEX jobs_finished ON public.jobs USING btree (finished_at) WHERE (finished_at > 0);
CREATE INDEX jobs_running ON public.jobs USING btree (state, heartbeat_at) WHERE (state = 'running'::text);
CREATE INDEX jobs_state ON public.jobs USING btree (state, created_at, id);
CREATE INDEX jobs_type ON public.jobs USING btree (type, created_at, id);
CREATE INDEX jobs_type_state ON public.jobs USING btree (type, state, created_at, id);
CREATE INDEX notify_deliveries_ended ON public.notify_deliveries USING btree (ended_at);
CREATE INDEX notify_deliveries_message ON public.notify_deliveries USING btree (message_id);
CREATE INDEX notify_deliveries_name ON public.notify_deliveries USING btree (service, name, id);
CREATE INDEX notify_messages_created ON public.notify_messages USING btree (created_at);
CREATE UNIQUE INDEX notify_messages_key ON public.notify_messages USING btree (service, key);
CREATE INDEX notify_messages_service ON public.notify_messages USING btree (service, id);
CREATE INDEX passkey_challenges_expires ON public.passkey_challenges USING btree (expires_at);
CREATE INDEX passkeys_user ON public.passkeys USING btree (user_id);
CREATE INDEX quota_usage_minute ON public.quota_usage USING btree (minute);
CREATE INDEX search_key_events_key ON public.search_key_events USING btree (key_id, id);
CREATE INDEX search_keys_group ON public.search_keys USING btree (group_name, state, created_at, id) WHERE (deleted_at = 0);
CREATE INDEX search_keys_live ON public.search_keys USING btree (created_at, id) WHERE (deleted_at = 0);
CREATE INDEX search_keys_quota ON public.search_keys USING btree (quota_limit, quota_used) WHERE (deleted_at = 0);
CREATE INDEX search_keys_state ON public.search_keys USING btree (state, created_at, id) WHERE (deleted_at = 0);
CREATE INDEX search_keys_updated ON public.search_keys USING btree (updated_at);
CREATE INDEX search_requests_key ON public.search_requests USING btree (key_id, id) WHERE (key_id <> ''::text);
CREATE INDEX search_requests_open ON public.search_requests USING btree (id) WHERE (outcome = 0);
CREATE INDEX search_requests_operation ON public.search_requests USING btree (operation, id) WHERE (operation <> 'search'::text);
CREATE INDEX search_requests_outcome ON public.search_requests USING btree (outcome, id) WHERE (outcome >= 2);
CREATE INDEX search_requests_token ON public.search_requests USING btree (token_id, id);
CREATE INDEX search_research_created ON public.search_research USING btree (created_at);
CREATE INDEX search_rollups_start ON public.search_rollups USING btree (step, start);
CREATE INDEX search_tokens_frozen ON public.search_tokens USING btree (created_at, id) WHERE ((deleted_at = 0) AND (NOT enabled));
CREATE INDEX search_tokens_group ON public.search_tokens USING btree (group_name, created_at, id) WHERE (deleted_at = 0);
CREATE INDEX search_tokens_live ON public.search_tokens USING btree (created_at, id, group_name, note) WHERE (deleted_at = 0);
CREATE INDEX search_tokens_owner ON public.search_tokens USING btree (owner_id, created_at, id) WHERE (deleted_at = 0);
CREATE INDEX search_tokens_updated ON public.search_tokens USING btree (updated_at);
CREATE INDEX sessions_expires ON public.sessions USING btree (expires_at);
CREATE INDEX sessions_key ON public.sessions USING btree (key_id);
CREATE INDEX sessions_user ON public.sessions USING btree (user_id);
CREATE INDEX setup_links_user ON public.setup_links USING btree (user_id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);
ALTER TABLE ONLY public.containers_ignores
    ADD CONSTRAINT containers_ignores_service_id_fkey FOREIGN KEY (service_id) REFERENCES public.containers_services(id);
ALTER TABLE ONLY public.containers_services
    ADD CONSTRAINT containers_services_stack_id_fkey FOREIGN KEY (stack_id) REFERENCES public.containers_stacks(id);
ALTER TABLE ONLY public.job_checkpoints
    ADD CONSTRAINT job_checkpoints_job_id_fkey FOREIGN KEY (job_id) REFERENCES public.jobs(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.job_events
    ADD CONSTRAINT job_events_job_id_fkey FOREIGN KEY (job_id) REFERENCES public.jobs(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.job_locks
    ADD CONSTRAINT job_locks_job_id_fkey FOREIGN KEY (job_id) REFERENCES public.jobs(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.job_tags
    ADD CONSTRAINT job_tags_job_id_fkey FOREIGN KEY (job_id) REFERENCES public.jobs(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);
