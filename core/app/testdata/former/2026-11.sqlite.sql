PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE goose_store (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
INSERT INTO goose_store VALUES(1,0,1,'2026-11-22 13:44:54');
INSERT INTO goose_store VALUES(2,1,1,'2026-11-22 13:44:54');
CREATE TABLE goose_queue (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
INSERT INTO goose_queue VALUES(1,0,1,'2026-11-22 13:44:54');
INSERT INTO goose_queue VALUES(2,1,1,'2026-11-22 13:44:54');
INSERT INTO goose_queue VALUES(3,2,1,'2026-11-22 13:44:54');
CREATE TABLE goose_notify (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
INSERT INTO goose_notify VALUES(1,0,1,'2026-11-22 13:44:54');
INSERT INTO goose_notify VALUES(2,1,1,'2026-11-22 13:44:54');
INSERT INTO goose_notify VALUES(3,2,1,'2026-11-22 13:44:54');
INSERT INTO goose_notify VALUES(4,3,1,'2026-11-22 13:44:54');
CREATE TABLE goose_auth (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
INSERT INTO goose_auth VALUES(1,0,1,'2026-11-22 13:44:54');
INSERT INTO goose_auth VALUES(2,1,1,'2026-11-22 13:44:54');
INSERT INTO goose_auth VALUES(3,2,1,'2026-11-22 13:44:54');
INSERT INTO goose_auth VALUES(4,3,1,'2026-11-22 13:44:54');
INSERT INTO goose_auth VALUES(5,4,1,'2026-11-22 13:44:54');
INSERT INTO goose_auth VALUES(6,5,1,'2026-11-22 13:44:54');
INSERT INTO goose_auth VALUES(7,6,1,'2026-11-22 13:44:54');
INSERT INTO goose_auth VALUES(8,7,1,'2026-11-22 13:44:54');
CREATE TABLE goose_search (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
INSERT INTO goose_search VALUES(1,0,1,'2026-11-22 13:44:54');
INSERT INTO goose_search VALUES(2,1,1,'2026-11-22 13:44:54');
INSERT INTO goose_search VALUES(3,5,1,'2026-11-22 13:44:54');
INSERT INTO goose_search VALUES(4,6,1,'2026-11-22 13:44:54');
INSERT INTO goose_search VALUES(5,10,1,'2026-11-22 13:44:54');
INSERT INTO goose_search VALUES(6,11,1,'2026-11-22 13:44:54');
CREATE TABLE goose_containers (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
INSERT INTO goose_containers VALUES(1,0,1,'2026-11-22 13:44:54');
INSERT INTO goose_containers VALUES(2,1,1,'2026-11-22 13:44:54');
INSERT INTO goose_containers VALUES(3,2,1,'2026-11-22 13:44:54');
INSERT INTO goose_containers VALUES(4,3,1,'2026-11-22 13:44:54');
INSERT INTO goose_containers VALUES(5,4,1,'2026-11-22 13:44:54');
INSERT INTO goose_containers VALUES(6,5,1,'2026-11-22 13:44:54');
INSERT INTO goose_containers VALUES(7,6,1,'2026-11-22 13:44:54');
CREATE TABLE store_changes (
    id  INTEGER PRIMARY KEY CHECK (id = 1),
    seq INTEGER NOT NULL
) STRICT;
INSERT INTO store_changes VALUES(1,0);
CREATE TABLE jobs (
    id               TEXT PRIMARY KEY,
    type             TEXT NOT NULL,
    state            TEXT NOT NULL CHECK (state IN ('queued', 'running', 'success', 'failed', 'rolled_back', 'canceled')),
    dedup_key        TEXT NOT NULL DEFAULT '',
    actor            TEXT NOT NULL DEFAULT '',
    payload          TEXT NOT NULL,
    result           TEXT NOT NULL DEFAULT '',
    error_code       TEXT NOT NULL DEFAULT '',
    error_message    TEXT NOT NULL DEFAULT '',
    reason           TEXT NOT NULL DEFAULT '',
    step             TEXT NOT NULL DEFAULT '',
    percent          INTEGER NOT NULL DEFAULT 0,
    attempt          INTEGER NOT NULL DEFAULT 0,
    claims           INTEGER NOT NULL DEFAULT 0,
    recoveries       INTEGER NOT NULL DEFAULT 0,
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    last_seq         INTEGER NOT NULL DEFAULT 0,
    owner            TEXT NOT NULL DEFAULT '',
    heartbeat_at     INTEGER NOT NULL DEFAULT 0,
    run_at           INTEGER NOT NULL,
    created_at       INTEGER NOT NULL,
    started_at       INTEGER NOT NULL DEFAULT 0,
    finished_at      INTEGER NOT NULL DEFAULT 0
, detail TEXT NOT NULL DEFAULT '') STRICT;
INSERT INTO jobs VALUES('job_01M81R1BFPQ4F7RA7SQKJCCAEV','notify.deliver','success','ntf_01M81R1BFPNXW9GYM78GN4VW4M','containers','{"id":"ntf_01M81R1BFPNXW9GYM78GN4VW4M"}','{"state":"delivered"}','','','','',100,1,1,0,0,3,'',1795355094534,1795355094518,1795355094518,1795355094534,1795355094540,'');
INSERT INTO jobs VALUES('job_01M81R1BGD8T3HTWFHS6MX78H8','containers.discovery','success','all','anonymous','{"scope":"all","reason":"ui"}','{"scan":{"startedAt":"2026-11-22T13:44:54.543Z","durationMs":23,"summary":{"projectsSeen":2,"stacksCreated":2,"stacksUpdated":0,"stacksSkipped":0,"stacksFailed":0,"stacksMarkedMissing":0,"stacksStopped":0,"stacksArchived":0},"actions":[],"actionsOmitted":2}}','','','','',100,1,1,0,0,5,'',1795355094542,1795355094541,1795355094541,1795355094542,1795355094567,'{"phase":"done","message":"looking for compose projects","current":0,"total":0,"percent":100,"updatedAt":"2026-11-22T13:44:54.566Z"}');
INSERT INTO jobs VALUES('job_01M81R1BHHNERF90NB5ZANX1J5','containers.check','success','all/','anonymous','{"scope":"all","reason":"schedule"}','{"hostPlatform":"linux/amd64","scope":"all","stackIds":["stk_01M81R1BH4F4NFC23N8BWV05RY","stk_01M81R1BH5MCHQ9SVWY17G0QAA"],"servicesChecked":3,"servicesFailed":0,"servicesWithCandidate":3,"newVersions":{"count":3,"services":[{"stackId":"stk_01M81R1BH4F4NFC23N8BWV05RY","stackName":"blog","serviceId":"svc_01M81R1BH4F4NFC23N8DNY6AJP","serviceName":"db","imageRef":"registry.example/blog/db:1","currentTag":"1","currentDigest":"sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1","currentDisplayTag":"1","candidateTag":"1","candidateDisplayTag":"1","candidateDigest":"sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb1"},{"stackId":"stk_01M81R1BH4F4NFC23N8BWV05RY","stackName":"blog","serviceId":"svc_01M81R1BH4F4NFC23N8G2KPXDQ","serviceName":"web","imageRef":"registry.example/blog/web:1","currentTag":"1","currentDigest":"sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa0","currentDisplayTag":"1","candidateTag":"1","candidateDisplayTag":"1","candidateDigest":"sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0"},{"stackId":"stk_01M81R1BH5MCHQ9SVWY17G0QAA","stackName":"wiki","serviceId":"svc_01M81R1BH5MCHQ9SVWY39HR0YA","serviceName":"app","imageRef":"registry.example/wiki/app:1","currentTag":"1","currentDigest":"sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa0","currentDisplayTag":"1","candidateTag":"1","candidateDisplayTag":"1","candidateDigest":"sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0"}]}}','','','','',100,1,1,0,0,6,'',1795355094577,1795355094577,1795355094577,1795355094577,1795355094585,'{"phase":"done","message":"checked blog / web","current":1,"total":3,"percent":100,"currentTarget":"blog / web","updatedAt":"2026-11-22T13:44:54.583Z"}');
INSERT INTO jobs VALUES('job_01M81R1BHSHBPGK5YDTRVQY9RC','containers.announce','success','announce/job_01M81R1BHHNERF90NB5ZANX1J5','anonymous','{"jobId":"job_01M81R1BHHNERF90NB5ZANX1J5"}','{"skipped":""}','','','','',100,1,1,0,0,3,'',1795355104570,1795355094585,1795355094585,1795355094586,1795355104702,'');
INSERT INTO jobs VALUES('job_01M81R1NDXQSQ8FJZNYR1GNHBN','notify.deliver','success','ntf_01M81R1NDW6TCKQ937XETJ6198','containers','{"id":"ntf_01M81R1NDW6TCKQ937XETJ6198"}','{"state":"delivered"}','','','','',100,1,1,0,0,3,'',1795355104702,1795355104701,1795355104701,1795355104702,1795355104737,'');
INSERT INTO jobs VALUES('job_01M81R1NDXQSQ8FJZNYS7ADRXV','notify.deliver','success','ntf_01M81R1NDXMG1YW01Z9G2CPWH1','containers','{"id":"ntf_01M81R1NDXMG1YW01Z9G2CPWH1"}','{"state":"delivered"}','','','','',100,1,1,0,0,3,'',1795355104703,1795355104701,1795355104701,1795355104703,1795355104750,'');
INSERT INTO jobs VALUES('job_01M81R1NDXQSQ8FJZNYW3SS9TV','notify.deliver','success','ntf_01M81R1NDXMG1YW01Z9HZJ8NRJ','containers','{"id":"ntf_01M81R1NDXMG1YW01Z9HZJ8NRJ"}','{"state":"delivered"}','','','','',100,1,1,0,0,3,'',1795355104703,1795355104701,1795355104701,1795355104703,1795355104745,'');
INSERT INTO jobs VALUES('job_01M81R1NDXQSQ8FJZNYWBJG3Y9','notify.deliver','success','ntf_01M81R1NDXMG1YW01Z9NVVYCXC','containers','{"id":"ntf_01M81R1NDXMG1YW01Z9NVVYCXC"}','{"state":"delivered"}','','','','',100,1,1,0,0,3,'',1795355104703,1795355104701,1795355104701,1795355104703,1795355104744,'');
INSERT INTO jobs VALUES('job_01M81R1NJZ00DDSM0RFDAZQA5C','notify.deliver','success','ntf_01M81R1NJZCWMC39RMW0V8FTQD','search','{"id":"ntf_01M81R1NJZCWMC39RMW0V8FTQD"}','{"state":"delivered"}','','','','',100,1,1,0,0,3,'',1795355104866,1795355104863,1795355104863,1795355104866,1795355104867,'');
CREATE TABLE job_locks (
    resource TEXT PRIMARY KEY,
    job_id   TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE
) STRICT;
CREATE TABLE job_schedules (
    name    TEXT PRIMARY KEY,
    cron    TEXT NOT NULL,
    next_at INTEGER NOT NULL
) STRICT;
INSERT INTO job_schedules VALUES('containers.scheduled_check','CRON_TZ=Local 15 4 * * *',1795407300000);
INSERT INTO job_schedules VALUES('containers.scheduled_audit','CRON_TZ=Local 0 3 * * *',1795402800000);
CREATE TABLE job_checkpoints (
    job_id TEXT PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    data   TEXT NOT NULL
) STRICT;
CREATE TABLE job_tags (
    tag        TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    job_id     TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    PRIMARY KEY (tag, created_at, job_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS "job_events" (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id   TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    seq      INTEGER NOT NULL,
    job_type TEXT NOT NULL,
    at       INTEGER NOT NULL,
    type     TEXT NOT NULL,
    data     TEXT NOT NULL,
    UNIQUE (job_id, seq)
) STRICT;
INSERT INTO job_events VALUES(1,'job_01M81R1BFPQ4F7RA7SQKJCCAEV',1,'notify.deliver',1795355094518,'queued','{"state":"queued"}');
INSERT INTO job_events VALUES(2,'job_01M81R1BFPQ4F7RA7SQKJCCAEV',2,'notify.deliver',1795355094534,'running','{"attempt":1,"state":"running"}');
INSERT INTO job_events VALUES(3,'job_01M81R1BFPQ4F7RA7SQKJCCAEV',3,'notify.deliver',1795355094541,'finished','{"result":{"state":"delivered"},"state":"success"}');
INSERT INTO job_events VALUES(4,'job_01M81R1BGD8T3HTWFHS6MX78H8',1,'containers.discovery',1795355094542,'queued','{"state":"queued"}');
INSERT INTO job_events VALUES(5,'job_01M81R1BGD8T3HTWFHS6MX78H8',2,'containers.discovery',1795355094543,'running','{"attempt":1,"state":"running"}');
INSERT INTO job_events VALUES(6,'job_01M81R1BGD8T3HTWFHS6MX78H8',3,'containers.discovery',1795355094543,'job_progress','{"phase":"scan","message":"looking for compose projects","current":0,"total":0,"percent":0,"updatedAt":"2026-11-22T13:44:54.543Z"}');
INSERT INTO job_events VALUES(7,'job_01M81R1BGD8T3HTWFHS6MX78H8',4,'containers.discovery',1795355094567,'job_progress','{"phase":"done","message":"looking for compose projects","current":0,"total":0,"percent":100,"updatedAt":"2026-11-22T13:44:54.566Z"}');
INSERT INTO job_events VALUES(8,'job_01M81R1BGD8T3HTWFHS6MX78H8',5,'containers.discovery',1795355094567,'finished','{"result":{"scan":{"startedAt":"2026-11-22T13:44:54.543Z","durationMs":23,"summary":{"projectsSeen":2,"stacksCreated":2,"stacksUpdated":0,"stacksSkipped":0,"stacksFailed":0,"stacksMarkedMissing":0,"stacksStopped":0,"stacksArchived":0},"actions":[],"actionsOmitted":2}},"state":"success"}');
INSERT INTO job_events VALUES(9,'job_01M81R1BHHNERF90NB5ZANX1J5',1,'containers.check',1795355094577,'queued','{"state":"queued"}');
INSERT INTO job_events VALUES(10,'job_01M81R1BHHNERF90NB5ZANX1J5',2,'containers.check',1795355094578,'running','{"attempt":1,"state":"running"}');
INSERT INTO job_events VALUES(11,'job_01M81R1BHHNERF90NB5ZANX1J5',3,'containers.check',1795355094578,'job_progress','{"phase":"prepare","message":"reading what runs","current":0,"total":0,"percent":0,"updatedAt":"2026-11-22T13:44:54.578Z"}');
INSERT INTO job_events VALUES(12,'job_01M81R1BHHNERF90NB5ZANX1J5',4,'containers.check',1795355094580,'job_progress','{"phase":"scan","message":"checked blog / web","current":1,"total":3,"percent":33,"currentTarget":"blog / web","updatedAt":"2026-11-22T13:44:54.579Z"}');
INSERT INTO job_events VALUES(13,'job_01M81R1BHHNERF90NB5ZANX1J5',5,'containers.check',1795355094583,'job_progress','{"phase":"done","message":"checked blog / web","current":1,"total":3,"percent":100,"currentTarget":"blog / web","updatedAt":"2026-11-22T13:44:54.583Z"}');
INSERT INTO job_events VALUES(14,'job_01M81R1BHSHBPGK5YDTRVQY9RC',1,'containers.announce',1795355094586,'queued','{"state":"queued"}');
INSERT INTO job_events VALUES(15,'job_01M81R1BHHNERF90NB5ZANX1J5',6,'containers.check',1795355094586,'finished','{"result":{"hostPlatform":"linux/amd64","scope":"all","stackIds":["stk_01M81R1BH4F4NFC23N8BWV05RY","stk_01M81R1BH5MCHQ9SVWY17G0QAA"],"servicesChecked":3,"servicesFailed":0,"servicesWithCandidate":3,"newVersions":{"count":3,"services":[{"stackId":"stk_01M81R1BH4F4NFC23N8BWV05RY","stackName":"blog","serviceId":"svc_01M81R1BH4F4NFC23N8DNY6AJP","serviceName":"db","imageRef":"registry.example/blog/db:1","currentTag":"1","currentDigest":"sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1","currentDisplayTag":"1","candidateTag":"1","candidateDisplayTag":"1","candidateDigest":"sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb1"},{"stackId":"stk_01M81R1BH4F4NFC23N8BWV05RY","stackName":"blog","serviceId":"svc_01M81R1BH4F4NFC23N8G2KPXDQ","serviceName":"web","imageRef":"registry.example/blog/web:1","currentTag":"1","currentDigest":"sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa0","currentDisplayTag":"1","candidateTag":"1","candidateDisplayTag":"1","candidateDigest":"sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0"},{"stackId":"stk_01M81R1BH5MCHQ9SVWY17G0QAA","stackName":"wiki","serviceId":"svc_01M81R1BH5MCHQ9SVWY39HR0YA","serviceName":"app","imageRef":"registry.example/wiki/app:1","currentTag":"1","currentDigest":"sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa0","currentDisplayTag":"1","candidateTag":"1","candidateDisplayTag":"1","candidateDigest":"sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0"}]}},"state":"success"}');
INSERT INTO job_events VALUES(16,'job_01M81R1BHSHBPGK5YDTRVQY9RC',2,'containers.announce',1795355094587,'running','{"attempt":1,"state":"running"}');
INSERT INTO job_events VALUES(17,'job_01M81R1NDXQSQ8FJZNYR1GNHBN',1,'notify.deliver',1795355104701,'queued','{"state":"queued"}');
INSERT INTO job_events VALUES(18,'job_01M81R1NDXQSQ8FJZNYS7ADRXV',1,'notify.deliver',1795355104701,'queued','{"state":"queued"}');
INSERT INTO job_events VALUES(19,'job_01M81R1NDXQSQ8FJZNYW3SS9TV',1,'notify.deliver',1795355104701,'queued','{"state":"queued"}');
INSERT INTO job_events VALUES(20,'job_01M81R1NDXQSQ8FJZNYWBJG3Y9',1,'notify.deliver',1795355104701,'queued','{"state":"queued"}');
INSERT INTO job_events VALUES(21,'job_01M81R1BHSHBPGK5YDTRVQY9RC',3,'containers.announce',1795355104702,'finished','{"result":{"skipped":""},"state":"success"}');
INSERT INTO job_events VALUES(22,'job_01M81R1NDXQSQ8FJZNYR1GNHBN',2,'notify.deliver',1795355104702,'running','{"attempt":1,"state":"running"}');
INSERT INTO job_events VALUES(23,'job_01M81R1NDXQSQ8FJZNYS7ADRXV',2,'notify.deliver',1795355104703,'running','{"attempt":1,"state":"running"}');
INSERT INTO job_events VALUES(24,'job_01M81R1NDXQSQ8FJZNYW3SS9TV',2,'notify.deliver',1795355104703,'running','{"attempt":1,"state":"running"}');
INSERT INTO job_events VALUES(25,'job_01M81R1NDXQSQ8FJZNYWBJG3Y9',2,'notify.deliver',1795355104703,'running','{"attempt":1,"state":"running"}');
INSERT INTO job_events VALUES(26,'job_01M81R1NDXQSQ8FJZNYR1GNHBN',3,'notify.deliver',1795355104740,'finished','{"result":{"state":"delivered"},"state":"success"}');
INSERT INTO job_events VALUES(27,'job_01M81R1NDXQSQ8FJZNYWBJG3Y9',3,'notify.deliver',1795355104744,'finished','{"result":{"state":"delivered"},"state":"success"}');
INSERT INTO job_events VALUES(28,'job_01M81R1NDXQSQ8FJZNYW3SS9TV',3,'notify.deliver',1795355104745,'finished','{"result":{"state":"delivered"},"state":"success"}');
INSERT INTO job_events VALUES(29,'job_01M81R1NDXQSQ8FJZNYS7ADRXV',3,'notify.deliver',1795355104750,'finished','{"result":{"state":"delivered"},"state":"success"}');
INSERT INTO job_events VALUES(30,'job_01M81R1NJZ00DDSM0RFDAZQA5C',1,'notify.deliver',1795355104864,'queued','{"state":"queued"}');
INSERT INTO job_events VALUES(31,'job_01M81R1NJZ00DDSM0RFDAZQA5C',2,'notify.deliver',1795355104866,'running','{"attempt":1,"state":"running"}');
INSERT INTO job_events VALUES(32,'job_01M81R1NJZ00DDSM0RFDAZQA5C',3,'notify.deliver',1795355104867,'finished','{"result":{"state":"delivered"},"state":"success"}');
CREATE TABLE notify_alerts (
	service    TEXT NOT NULL,
	dedup_key  TEXT NOT NULL,
	kind       TEXT NOT NULL,
	active     BOOLEAN NOT NULL,
	raised_at  INTEGER NOT NULL,
	told_at    INTEGER NOT NULL,
	ended_at   INTEGER NOT NULL,
	PRIMARY KEY (service, dedup_key)
);
INSERT INTO notify_alerts VALUES('search','pool_empty/search.main','pool_empty',1,1795355104863,1795355104863,0);
CREATE TABLE notify_messages (
	id         TEXT PRIMARY KEY,
	service    TEXT NOT NULL,
	key        TEXT NOT NULL,
	kind       TEXT NOT NULL,
	schema     TEXT NOT NULL,
	version    INTEGER NOT NULL,
	severity   INTEGER NOT NULL,
	title      TEXT NOT NULL,
	summary    TEXT NOT NULL,
	detail     TEXT NOT NULL,
	rich       TEXT NOT NULL,
	payload    TEXT NOT NULL,
	created_at INTEGER NOT NULL
);
INSERT INTO notify_messages VALUES('ntm_01M81R1BFPNXW9GYM78DKPF2MS','containers','ntm_01M81R1BFPNXW9GYM78DKPF2MS','notification_test','svc.notification.test.v2',2,1,'Notification test','A test of mail alone.',replace('Note: no public base URL is configured for this instance (system settings), so these are paths within the site.\n\nOpen settings: /settings','\n',char(10)),'{"markdown":{"title":"Notification test","summary":"A test of mail alone.","detail":"Note: no public base URL is configured for this instance (system settings), so these are paths within the site.\n\nOpen settings: `/settings`"},"html":{"title":"Notification test","summary":"\u003cp\u003eA test of mail alone.\u003c/p\u003e","detail":"\u003cp\u003eNote: no public base URL is configured for this instance (system settings), so these are paths within the site.\u003c/p\u003e\u003cp\u003eOpen settings: \u003ccode\u003e/settings\u003c/code\u003e\u003c/p\u003e"},"card":{"kind":"Notification test","status":"Test","tone":"info","subject":"Patchbay test","lines":[{"label":"Channel","value":"email"},{"label":"Version","value":"1.0.0"}],"footer":"2026-11-22 13:44 UTC"}}','{"schema":"svc.notification.test.v2","kind":"notification_test","sentAt":"2026-11-22T13:44:54.517Z","url":"/settings","human":{"title":"Notification test","summary":"A test of mail alone.","detail":"Note: no public base URL is configured for this instance (system settings), so these are paths within the site.\n\nOpen settings: /settings"},"debug":{"version":"1.0.0","appVersion":"1.0.0","source":"containers","requestedChannel":"email","rawMessage":"A test of mail alone."}}',1795355094518);
INSERT INTO notify_messages VALUES('ntm_01M81R1NDW6TCKQ937XCHXAX3V','containers','new_version_discovered/job_01M81R1BHHNERF90NB5ZANX1J5','new_version_discovered','svc.notification.new_version_discovered.v2',2,1,'3 services have new versions','',replace('Note: no public base URL is configured for this instance (system settings), so these are paths within the site.\n\n- blog / db: /services/stk_01M81R1BH4F4NFC23N8BWV05RY/svc_01M81R1BH4F4NFC23N8DNY6AJP\n- blog / web: /services/stk_01M81R1BH4F4NFC23N8BWV05RY/svc_01M81R1BH4F4NFC23N8G2KPXDQ\n- wiki / app: /services/stk_01M81R1BH5MCHQ9SVWY17G0QAA/svc_01M81R1BH5MCHQ9SVWY39HR0YA\n\nView check job: /queue/job_01M81R1BHHNERF90NB5ZANX1J5','\n',char(10)),'{"markdown":{"title":"3 services have new versions","detail":"Note: no public base URL is configured for this instance (system settings), so these are paths within the site.\n\n- blog / db: `/services/stk_01M81R1BH4F4NFC23N8BWV05RY/svc_01M81R1BH4F4NFC23N8DNY6AJP`\n- blog / web: `/services/stk_01M81R1BH4F4NFC23N8BWV05RY/svc_01M81R1BH4F4NFC23N8G2KPXDQ`\n- wiki / app: `/services/stk_01M81R1BH5MCHQ9SVWY17G0QAA/svc_01M81R1BH5MCHQ9SVWY39HR0YA`\n\nView check job: `/queue/job_01M81R1BHHNERF90NB5ZANX1J5`"},"html":{"title":"3 services have new versions","detail":"\u003cp\u003eNote: no public base URL is configured for this instance (system settings), so these are paths within the site.\u003c/p\u003e\u003cul\u003e\u003cli\u003eblog / db: \u003ccode\u003e/services/stk_01M81R1BH4F4NFC23N8BWV05RY/svc_01M81R1BH4F4NFC23N8DNY6AJP\u003c/code\u003e\u003c/li\u003e\u003cli\u003eblog / web: \u003ccode\u003e/services/stk_01M81R1BH4F4NFC23N8BWV05RY/svc_01M81R1BH4F4NFC23N8G2KPXDQ\u003c/code\u003e\u003c/li\u003e\u003cli\u003ewiki / app: \u003ccode\u003e/services/stk_01M81R1BH5MCHQ9SVWY17G0QAA/svc_01M81R1BH5MCHQ9SVWY39HR0YA\u003c/code\u003e\u003c/li\u003e\u003c/ul\u003e\u003cp\u003eView check job: \u003ccode\u003e/queue/job_01M81R1BHHNERF90NB5ZANX1J5\u003c/code\u003e\u003c/p\u003e"},"card":{"kind":"New version found","status":"New version","tone":"info","subject":"3 services","lines":[{"label":"blog / db","value":"New version"},{"label":"blog / web","value":"New version"},{"label":"wiki / app","value":"New version"}],"footer":"2026-11-22 13:45 UTC"}}','{"schema":"svc.notification.new_version_discovered.v2","kind":"new_version_discovered","sentAt":"2026-11-22T13:45:04.665Z","human":{"title":"3 services have new versions","summary":"3 services have new versions:\n- blog / db\n- blog / web\n- wiki / app","detail":"Note: no public base URL is configured for this instance (system settings), so these are paths within the site.\n\n- blog / db: /services/stk_01M81R1BH4F4NFC23N8BWV05RY/svc_01M81R1BH4F4NFC23N8DNY6AJP\n- blog / web: /services/stk_01M81R1BH4F4NFC23N8BWV05RY/svc_01M81R1BH4F4NFC23N8G2KPXDQ\n- wiki / app: /services/stk_01M81R1BH5MCHQ9SVWY17G0QAA/svc_01M81R1BH5MCHQ9SVWY39HR0YA\n\nView check job: /queue/job_01M81R1BHHNERF90NB5ZANX1J5"},"check":{"jobId":"job_01M81R1BHHNERF90NB5ZANX1J5","status":"success","scope":"all","servicesChecked":3,"newVersions":3},"links":{"primaryUrl":"/queue/job_01M81R1BHHNERF90NB5ZANX1J5","jobUrl":"/queue/job_01M81R1BHHNERF90NB5ZANX1J5","serviceUrls":[{"stackId":"stk_01M81R1BH4F4NFC23N8BWV05RY","stackName":"blog","serviceId":"svc_01M81R1BH4F4NFC23N8DNY6AJP","serviceName":"db","url":"/services/stk_01M81R1BH4F4NFC23N8BWV05RY/svc_01M81R1BH4F4NFC23N8DNY6AJP","currentTag":"1","candidateTag":"1","currentDisplayTag":"1","candidateDisplayTag":"1"},{"stackId":"stk_01M81R1BH4F4NFC23N8BWV05RY","stackName":"blog","serviceId":"svc_01M81R1BH4F4NFC23N8G2KPXDQ","serviceName":"web","url":"/services/stk_01M81R1BH4F4NFC23N8BWV05RY/svc_01M81R1BH4F4NFC23N8G2KPXDQ","currentTag":"1","candidateTag":"1","currentDisplayTag":"1","candidateDisplayTag":"1"},{"stackId":"stk_01M81R1BH5MCHQ9SVWY17G0QAA","stackName":"wiki","serviceId":"svc_01M81R1BH5MCHQ9SVWY39HR0YA","serviceName":"app","url":"/services/stk_01M81R1BH5MCHQ9SVWY17G0QAA/svc_01M81R1BH5MCHQ9SVWY39HR0YA","currentTag":"1","candidateTag":"1","currentDisplayTag":"1","candidateDisplayTag":"1"}],"truncated":{"serviceUrlsOmitted":0}},"debug":{"version":"1.0.0","appVersion":"1.0.0","source":"containers"}}',1795355104700);
INSERT INTO notify_messages VALUES('ntm_01M81R1NJZCWMC39RMW0BDGNPW','search','ntm_01M81R1NJZCWMC39RMW0BDGNPW','search.pool_empty','',1,4,'No upstream key can be used','','','{}','{"id":"","kind":"search.pool_empty","schemaVersion":1,"sentAt":"2026-11-22T13:45:04.863Z","service":"search","severity":"error","status":"raised","title":"No upstream key can be used","text":"","fields":{}}',1795355104863);
CREATE TABLE notify_deliveries (
	id           TEXT PRIMARY KEY,
	message_id   TEXT NOT NULL,
	service      TEXT NOT NULL,
	channel      TEXT NOT NULL,
	name         TEXT NOT NULL,
	recipient    TEXT NOT NULL,
	once         BOOLEAN NOT NULL,
	state        TEXT NOT NULL,
	attempts     INTEGER NOT NULL,
	error        TEXT NOT NULL,
	warnings     TEXT,
	created_at   INTEGER NOT NULL,
	attempted_at INTEGER NOT NULL,
	ended_at     INTEGER NOT NULL
);
INSERT INTO notify_deliveries VALUES('ntf_01M81R1BFPNXW9GYM78GN4VW4M','ntm_01M81R1BFPNXW9GYM78DKPF2MS','containers','notify.emailmain','email','',1,'delivered',1,'',NULL,1795355094518,1795355094539,1795355094539);
INSERT INTO notify_deliveries VALUES('ntf_01M81R1NDW6TCKQ937XETJ6198','ntm_01M81R1NDW6TCKQ937XCHXAX3V','containers','notify.chatmain','chat','',0,'delivered',1,'',NULL,1795355104700,1795355104736,1795355104736);
INSERT INTO notify_deliveries VALUES('ntf_01M81R1NDXMG1YW01Z9G2CPWH1','ntm_01M81R1NDW6TCKQ937XCHXAX3V','containers','notify.webhookmain','webhook','',0,'delivered',1,'',NULL,1795355104700,1795355104749,1795355104750);
INSERT INTO notify_deliveries VALUES('ntf_01M81R1NDXMG1YW01Z9HZJ8NRJ','ntm_01M81R1NDW6TCKQ937XCHXAX3V','containers','notify.webpushmain','webPush','psh_01M81R1BFNDAV7XMMMA8RPRECP',0,'delivered',1,'',NULL,1795355104700,1795355104745,1795355104745);
INSERT INTO notify_deliveries VALUES('ntf_01M81R1NDXMG1YW01Z9NVVYCXC','ntm_01M81R1NDW6TCKQ937XCHXAX3V','containers','notify.webpushmain','webPush','psh_01M81R1BFNDAV7XMMMAA1WKQWP',0,'delivered',1,'',NULL,1795355104700,1795355104744,1795355104744);
INSERT INTO notify_deliveries VALUES('ntf_01M81R1NJZCWMC39RMW0V8FTQD','ntm_01M81R1NJZCWMC39RMW0BDGNPW','search','notify.main','main','',0,'delivered',1,'',NULL,1795355104863,1795355104867,1795355104867);
CREATE TABLE users (
	id          TEXT PRIMARY KEY,
	email       TEXT NOT NULL UNIQUE,
	name        TEXT NOT NULL,
	role        TEXT NOT NULL,
	disabled    BOOLEAN NOT NULL,
	created_at  INTEGER NOT NULL,
	updated_at  INTEGER NOT NULL
, forwarded BOOLEAN NOT NULL DEFAULT FALSE);
INSERT INTO users VALUES('usr_01M81R1BFKEQS13VA6S8RW39CH','ann@example.org','ANN','admin',0,1795355094515,1795355094515,0);
INSERT INTO users VALUES('usr_01M81R1BFMBA5HHD7MQDE7P631','ben@example.org','BEN','member',0,1795355094516,1795355094516,0);
CREATE TABLE api_keys (
	id          TEXT PRIMARY KEY,
	user_id     TEXT NOT NULL REFERENCES users (id),
	name        TEXT NOT NULL,
	hash        BLOB NOT NULL UNIQUE,
	sealed      TEXT NOT NULL,
	prefix      TEXT NOT NULL,
	scopes      TEXT NOT NULL,
	expires_at  INTEGER NOT NULL,
	created_at  INTEGER NOT NULL,
	revoked_at  INTEGER NOT NULL
, last_used_at INTEGER NOT NULL DEFAULT 0);
INSERT INTO api_keys VALUES('key_01M81R1BFKEQS13VA6SBGTK0KF','usr_01M81R1BFKEQS13VA6S8RW39CH','Initial API key',X'c0bcca6c5fa79a9f96b073b0f05778e14f063ccc9f7669c05d73a1e583245c0e','v1:4bb06f8e:2yBJFnS8Fy0WAJDuEPh3u0R2YcUiiHDHhG5LKY0cSAwro7dWQgUtGn9eJmtNC4uO/p8+hRxPXeMn3QYMKu/eM3Muc9VEPLVmfVJkagEj','svc_ak_Qar1Q','',0,1795355094515,0,0);
INSERT INTO api_keys VALUES('key_01M81R1BFKEQS13VA6SEGK14A0','usr_01M81R1BFKEQS13VA6S8RW39CH','script',X'ce57930c602a0150d18ab6b6a74943b0760914c2536ad3b88e04c210a8687db0','v1:4bb06f8e:StKj5L5kQvkS3s+n8hOfzZzKKdG8Nrns7JOefQ8S06p0kc2wobRQAuZnaWCFoI6q9FLkeiZ56AG+pGCnzFp8rJDI8m6/2YIHJCwlmJfP','svc_ak_1Pagu','search',0,1795355094515,0,0);
INSERT INTO api_keys VALUES('key_01M81R1BFMBA5HHD7MQGQ4N70B','usr_01M81R1BFMBA5HHD7MQDE7P631','Initial API key',X'2db7c53c3f8be67b22a521034637846f7729a8538ceb11c508817adcfc195514','v1:4bb06f8e:vjRJpN4Po6Ja8aAJkffNgXVVSR4zkc3nP8fXROiweJ3Ew+TJHvY5hud+K7z3h+NEBcP6q+cWz9fro9Jj537S3YLtkeG1HTDsyY753JNc','svc_ak_aOgQJ','',0,1795355094516,0,0);
INSERT INTO api_keys VALUES('key_01M81R1BFMBA5HHD7MQM3SWK1P','usr_01M81R1BFMBA5HHD7MQDE7P631','script',X'd98cadc11a25f31a091a41ffdd3df4ca16e491b7d5187221e129f580869bdc32','v1:4bb06f8e:3MEHTxWQNarZ1Fj2TlXvTTYgMXpI6V+CtacxadslMLnj/BRi4/1HxaruSxAcOV0LdS8TDsE6M88cWEhlJhSbHotkvDCud4sGzMhuYAkY','svc_ak_e-drZ','search',0,1795355094516,0,0);
CREATE TABLE sessions (
	hash        BLOB PRIMARY KEY,
	id          TEXT NOT NULL UNIQUE,
	user_id     TEXT NOT NULL REFERENCES users (id),
	key_id      TEXT NOT NULL,
	began_with  TEXT NOT NULL,
	user_agent  TEXT NOT NULL,
	address     TEXT NOT NULL,
	created_at  INTEGER NOT NULL,
	seen_at     INTEGER NOT NULL,
	expires_at  INTEGER NOT NULL
, passkey_id TEXT NOT NULL DEFAULT '', checked_at INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE passkeys (
	id             TEXT PRIMARY KEY,
	user_id        TEXT NOT NULL REFERENCES users (id),
	credential_id  BLOB NOT NULL UNIQUE,
	rp_id          TEXT NOT NULL,
	name           TEXT NOT NULL,
	record         TEXT NOT NULL,
	backed_up      BOOLEAN NOT NULL,
	created_at     INTEGER NOT NULL,
	last_used_at   INTEGER NOT NULL,
	revoked_at     INTEGER NOT NULL
);
CREATE TABLE passkey_challenges (
	hash        BLOB PRIMARY KEY,
	kind        TEXT NOT NULL,
	user_id     TEXT NOT NULL,
	session_id  TEXT NOT NULL,
	name        TEXT NOT NULL,
	data        TEXT NOT NULL,
	expires_at  INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE setup_links (
	hash        BLOB PRIMARY KEY,
	user_id     TEXT NOT NULL,
	created_at  INTEGER NOT NULL,
	expires_at  INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE account_events (
	id           TEXT PRIMARY KEY,
	at           INTEGER NOT NULL,
	action       TEXT NOT NULL,
	result       TEXT NOT NULL,
	actor_id     TEXT NOT NULL,
	actor_name   TEXT NOT NULL,
	via          TEXT NOT NULL,
	address      TEXT NOT NULL,
	target_id    TEXT NOT NULL,
	target_name  TEXT NOT NULL,
	user_id      TEXT NOT NULL,
	detail       TEXT NOT NULL
, request_id TEXT NOT NULL DEFAULT '');
INSERT INTO account_events VALUES('evt_01M81R1BFKEQS13VA6S9JWZ3HD',1795355094515,'user.create','ok','','patchbay','','','usr_01M81R1BFKEQS13VA6S8RW39CH','ann@example.org','usr_01M81R1BFKEQS13VA6S8RW39CH','role: admin','');
INSERT INTO account_events VALUES('evt_01M81R1BFKEQS13VA6SCXG9BP6',1795355094515,'api_key.create','ok','','patchbay','','','key_01M81R1BFKEQS13VA6SBGTK0KF','Initial API key','usr_01M81R1BFKEQS13VA6S8RW39CH','scopes: all','');
INSERT INTO account_events VALUES('evt_01M81R1BFKEQS13VA6SHMMJETJ',1795355094515,'api_key.create','ok','','patchbay','','','key_01M81R1BFKEQS13VA6SEGK14A0','script','usr_01M81R1BFKEQS13VA6S8RW39CH','scopes: search','');
INSERT INTO account_events VALUES('evt_01M81R1BFMBA5HHD7MQE5CWQES',1795355094516,'user.create','ok','','patchbay','','','usr_01M81R1BFMBA5HHD7MQDE7P631','ben@example.org','usr_01M81R1BFMBA5HHD7MQDE7P631','role: member','');
INSERT INTO account_events VALUES('evt_01M81R1BFMBA5HHD7MQHCWT190',1795355094516,'api_key.create','ok','','patchbay','','','key_01M81R1BFMBA5HHD7MQGQ4N70B','Initial API key','usr_01M81R1BFMBA5HHD7MQDE7P631','scopes: all','');
INSERT INTO account_events VALUES('evt_01M81R1BFMBA5HHD7MQQKA3D6P',1795355094516,'api_key.create','ok','','patchbay','','','key_01M81R1BFMBA5HHD7MQM3SWK1P','script','usr_01M81R1BFMBA5HHD7MQDE7P631','scopes: search','');
CREATE TABLE developer_sessions (
	hash        BLOB PRIMARY KEY,
	id          TEXT NOT NULL UNIQUE,
	created_at  INTEGER NOT NULL,
	expires_at  INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE search_tokens (
	id                   TEXT PRIMARY KEY,
	hash                 BLOB NOT NULL,
	sealed               TEXT NOT NULL,
	enabled              BOOLEAN NOT NULL,
	note                 TEXT NOT NULL,
	group_name           TEXT NOT NULL,
	owner_id             TEXT NOT NULL,
	expires_at           INTEGER NOT NULL,
	limit_requests       INTEGER,
	limit_credits_hour   INTEGER,
	limit_credits_day    INTEGER,
	limit_credits_month  INTEGER,
	created_at           INTEGER NOT NULL,
	updated_at           INTEGER NOT NULL,
	deleted_at           INTEGER NOT NULL
, cache_ttl INTEGER, limit_requests_minute INTEGER);
INSERT INTO search_tokens VALUES('JuDO',X'7aa31b78c8607de8a5edbf47aa9398c763f2061473042e220c3dea998f2e6b0c','v1:4bb06f8e:PY6XsU7WT4kQTcg52DO/VKl0+nY7hLDa8jvHr/oxUBD8jlJfVzU4JeoZZEwg4DRkg/fhiBG1xCZU3U6Q',1,'token of ann@example.org','people','usr_01M81R1BFKEQS13VA6S8RW39CH',0,NULL,NULL,NULL,NULL,1795348830000,1795348830000,0,NULL,NULL);
INSERT INTO search_tokens VALUES('0XNt',X'2a7d76e77f01179dc2029bd6e7f996b961a87a91a003acc0114145647b7ce106','v1:4bb06f8e:OYv6Hkbmz0XRMsw/5jyUJOTRCcsh7Cs4Qlp/4FYYgpPbu3GaXXCDgqobxy7yW+pP01a8KVio9940WBtx',1,'token of ben@example.org','people','usr_01M81R1BFMBA5HHD7MQDE7P631',0,NULL,NULL,NULL,NULL,1795348830000,1795348830000,0,NULL,NULL);
CREATE TABLE search_keys (
	id          TEXT PRIMARY KEY,
	hash        BLOB NOT NULL UNIQUE,
	sealed      TEXT NOT NULL,
	group_name  TEXT NOT NULL,
	state       TEXT NOT NULL,
	reason      TEXT NOT NULL,
	until       INTEGER NOT NULL,
	created_at  INTEGER NOT NULL,
	updated_at  INTEGER NOT NULL,
	deleted_at  INTEGER NOT NULL
, quota_limit INTEGER NOT NULL DEFAULT 0, quota_used INTEGER NOT NULL DEFAULT 0, quota_synced_at INTEGER NOT NULL DEFAULT 0, quota_error TEXT NOT NULL DEFAULT '', state_changed_at INTEGER NOT NULL DEFAULT 0);
INSERT INTO search_keys VALUES('RU6vGA',X'283706bc328920c025291a9a6778eb51c62309268e08664b5acd8984f2b91e67','v1:4bb06f8e:kgsHvMucVHgLeHLSfHo1SA5sqrWwYShPxbAZA/21t+SpU0DQbcyMgmw7DsBFINhXE775ycnv','default','active','',0,1795348830000,1795348830000,0,0,0,0,'',1795348830000);
INSERT INTO search_keys VALUES('H055eA',X'2e602f43992d1aff758c137de370eb45d677d2bf2f9faf76e57e25654e80f986','v1:4bb06f8e:KNEj5yXCA4Sy42qLkPTM6+saJu9CSKZr4Be6mNMk9Bd5ngG3JYYMZZUXHhy9V1k6WMYs+W3R','default','active','',0,1795348830000,1795348830000,0,0,0,0,'',1795348830000);
CREATE TABLE search_requests (
	id               INTEGER PRIMARY KEY,
	time             INTEGER NOT NULL,
	request_id       TEXT NOT NULL,
	token_id         TEXT NOT NULL,
	key_id           TEXT NOT NULL,
	backend          TEXT NOT NULL,
	operation        TEXT NOT NULL,
	outcome          INTEGER NOT NULL,
	status           INTEGER NOT NULL,
	upstream_status  INTEGER NOT NULL,
	credits          INTEGER NOT NULL,
	duration_us      INTEGER NOT NULL,
	upstream_us      INTEGER NOT NULL,
	plugin_us        INTEGER NOT NULL,
	attempts         INTEGER NOT NULL,
	request_bytes    INTEGER NOT NULL,
	response_bytes   INTEGER NOT NULL,
	client           TEXT NOT NULL,
	error_code       TEXT NOT NULL
, cached BOOLEAN NOT NULL DEFAULT FALSE);
CREATE TABLE search_bodies (
	request_row  INTEGER PRIMARY KEY,
	request      BLOB,
	response     BLOB
);
CREATE TABLE quota_usage (
	token_id   TEXT NOT NULL,
	minute     INTEGER NOT NULL,
	requests   INTEGER NOT NULL,
	credits    INTEGER NOT NULL,
	successes  INTEGER NOT NULL,
	errors     INTEGER NOT NULL,
	refused    INTEGER NOT NULL,
	PRIMARY KEY (token_id, minute)
) WITHOUT ROWID;
CREATE TABLE search_research (
	resource_id  TEXT PRIMARY KEY,
	token_id     TEXT NOT NULL,
	key_id       TEXT NOT NULL,
	created_at   INTEGER NOT NULL
, backend TEXT NOT NULL DEFAULT '');
CREATE TABLE search_key_events (
	id         TEXT PRIMARY KEY,
	key_id     TEXT NOT NULL,
	time       INTEGER NOT NULL,
	source     TEXT NOT NULL,
	actor      TEXT NOT NULL,
	operation  TEXT NOT NULL,
	before     TEXT NOT NULL,
	after      TEXT NOT NULL,
	reason     TEXT NOT NULL
);
INSERT INTO search_key_events VALUES('kev_01M81R1BFMBA5HHD7MQTGTTYF1','RU6vGA',1795348830000,'system','','added','','active','');
INSERT INTO search_key_events VALUES('kev_01M81R1BFMBA5HHD7MQTTJADRX','H055eA',1795348830000,'system','','added','','active','');
CREATE TABLE search_rollups (
	scope        TEXT NOT NULL,
	subject      TEXT NOT NULL,
	step         INTEGER NOT NULL,
	start        INTEGER NOT NULL,
	operation    TEXT NOT NULL,
	requests     INTEGER NOT NULL,
	successes    INTEGER NOT NULL,
	errors       INTEGER NOT NULL,
	refused      INTEGER NOT NULL,
	credits      INTEGER NOT NULL,
	duration_us  INTEGER NOT NULL,
	last_at      INTEGER NOT NULL,
	h0  INTEGER NOT NULL, h1  INTEGER NOT NULL, h2  INTEGER NOT NULL, h3  INTEGER NOT NULL, h4  INTEGER NOT NULL,
	h5  INTEGER NOT NULL, h6  INTEGER NOT NULL, h7  INTEGER NOT NULL, h8  INTEGER NOT NULL, h9  INTEGER NOT NULL,
	h10 INTEGER NOT NULL, h11 INTEGER NOT NULL, h12 INTEGER NOT NULL, h13 INTEGER NOT NULL,
	PRIMARY KEY (scope, subject, step, start, operation)
) WITHOUT ROWID;
CREATE TABLE search_marks (
	name  TEXT PRIMARY KEY,
	at    INTEGER NOT NULL
);
INSERT INTO search_marks VALUES('rollups',-1);
CREATE TABLE containers_stacks (
    id              TEXT PRIMARY KEY,
    project         TEXT NOT NULL,
    working_dir     TEXT NOT NULL,
    files           TEXT,
    env_files       TEXT,
    archived_at     INTEGER NOT NULL DEFAULT 0,
    archived_reason TEXT NOT NULL DEFAULT '',
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    last_check_at   INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO containers_stacks VALUES('stk_01M81R1BH4F4NFC23N8BWV05RY','blog','/srv/blog','["/srv/blog/compose.yaml"]',NULL,0,'',1795355094564,1795355094564,1795355094582);
INSERT INTO containers_stacks VALUES('stk_01M81R1BH5MCHQ9SVWY17G0QAA','wiki','/srv/wiki','["/srv/wiki/compose.yaml"]',NULL,0,'',1795355094565,1795355094565,1795355094582);
CREATE TABLE containers_projects (
    project         TEXT PRIMARY KEY,
    status          TEXT NOT NULL CHECK (status IN ('active', 'stopped', 'missing', 'invalid')),
    stack_id        TEXT NOT NULL DEFAULT '',
    working_dir     TEXT NOT NULL DEFAULT '',
    files           TEXT,
    last_seen_at    INTEGER NOT NULL DEFAULT 0,
    last_scan_at    INTEGER NOT NULL DEFAULT 0,
    last_error      TEXT NOT NULL DEFAULT '',
    details         TEXT NOT NULL DEFAULT '',
    archived_at     INTEGER NOT NULL DEFAULT 0,
    archived_reason TEXT NOT NULL DEFAULT ''
, move TEXT) STRICT;
INSERT INTO containers_projects VALUES('blog','active','stk_01M81R1BH4F4NFC23N8BWV05RY','/srv/blog','["/srv/blog/compose.yaml"]',1795355094544,1795355094544,'','',0,'',NULL);
INSERT INTO containers_projects VALUES('wiki','active','stk_01M81R1BH5MCHQ9SVWY17G0QAA','/srv/wiki','["/srv/wiki/compose.yaml"]',1795355094565,1795355094565,'','',0,'',NULL);
CREATE TABLE containers_services (
    id                TEXT PRIMARY KEY,
    stack_id          TEXT NOT NULL REFERENCES containers_stacks (id),
    name              TEXT NOT NULL,
    image             TEXT NOT NULL,
    repo              TEXT NOT NULL,
    tag               TEXT NOT NULL DEFAULT '',
    pinned            TEXT NOT NULL DEFAULT '',
    mounts            TEXT,
    profiles          TEXT,
    state             TEXT NOT NULL DEFAULT 'unknown',
    runtime_digest    TEXT NOT NULL DEFAULT '',
    runtime_image     TEXT NOT NULL DEFAULT '',
    runtime_error     TEXT NOT NULL DEFAULT '',
    runtime_version   TEXT NOT NULL DEFAULT '',
    candidate_digest  TEXT NOT NULL DEFAULT '',
    candidate_tag     TEXT NOT NULL DEFAULT '',
    candidate_match   TEXT NOT NULL DEFAULT '',
    candidate_arch    TEXT,
    candidate_version TEXT NOT NULL DEFAULT '',
    candidate_since   INTEGER NOT NULL DEFAULT 0,
    newer_tags        TEXT,
    generation        INTEGER NOT NULL DEFAULT 0,
    checked_at        INTEGER NOT NULL DEFAULT 0,
    check_error       TEXT NOT NULL DEFAULT '',
    auto_rollback     INTEGER NOT NULL DEFAULT 1,
    backup_targets    TEXT,
    repo_url          TEXT NOT NULL DEFAULT '',
    health_timeout    INTEGER NOT NULL DEFAULT 0,
    min_age           INTEGER NOT NULL DEFAULT -1,
    archived_at       INTEGER NOT NULL DEFAULT 0,
    archived_reason   TEXT NOT NULL DEFAULT '',
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL
, built INTEGER NOT NULL DEFAULT 0, tag_digest TEXT NOT NULL DEFAULT '') STRICT;
INSERT INTO containers_services VALUES('svc_01M81R1BH4F4NFC23N8DNY6AJP','stk_01M81R1BH4F4NFC23N8BWV05RY','db','registry.example/blog/db:1','registry.example/blog/db','1','',NULL,NULL,'running','sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1','sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1','','','sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb1','1','match','["linux/amd64"]','',1795355094581,'[]',1,1795355094581,'',1,'{"bindPaths":{},"volumeNames":{}}','',0,-1,0,'',1795355094564,1795355094581,0,'sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb1');
INSERT INTO containers_services VALUES('svc_01M81R1BH4F4NFC23N8G2KPXDQ','stk_01M81R1BH4F4NFC23N8BWV05RY','web','registry.example/blog/web:1','registry.example/blog/web','1','',NULL,NULL,'running','sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa0','sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa0','','','sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0','1','match','["linux/amd64"]','',1795355094579,'[]',1,1795355094581,'',1,'{"bindPaths":{},"volumeNames":{}}','',0,-1,0,'',1795355094564,1795355094581,0,'sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0');
INSERT INTO containers_services VALUES('svc_01M81R1BH5MCHQ9SVWY39HR0YA','stk_01M81R1BH5MCHQ9SVWY17G0QAA','app','registry.example/wiki/app:1','registry.example/wiki/app','1','',NULL,NULL,'running','sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa0','sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa0','','','sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0','1','match','["linux/amd64"]','',1795355094581,'[]',1,1795355094581,'',1,'{"bindPaths":{},"volumeNames":{}}','',0,-1,0,'',1795355094565,1795355094581,0,'sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0');
CREATE TABLE containers_ignores (
    id         TEXT PRIMARY KEY,
    service_id TEXT NOT NULL REFERENCES containers_services (id),
    enabled    INTEGER NOT NULL,
    kind       TEXT NOT NULL,
    value      TEXT NOT NULL,
    note       TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL
) STRICT;
CREATE TABLE containers_settings (
    name       TEXT PRIMARY KEY,
    value      TEXT NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
INSERT INTO containers_settings VALUES('notifications','{"events":{"update":true,"newVersion":true,"ghcrWebhookAnomaly":false},"chat":{"enabled":true,"botToken":"v1:4bb06f8e:60eejcL90ovS/DS/lzw6Mz9RrdqQ3Ow7/FlWFQXg8jRwgwkssDNirmQsr8+i7ELJIkO+","chatId":"-100200300"},"email":{"enabled":false,"smtpUrl":"v1:4bb06f8e:dhLJDYfl4GjaZsMhYQd7kx34hb/dVVwjSHdV/eShZMcGuWDimwJ1WgrIOIjKpdZ1snbYEz0TPqKjJkrX4AhQKF0R88keDz/BcW30MacLjdymOvCYnzhMnKYc"},"webhook":{"enabled":true,"url":"v1:4bb06f8e:VvJS7xaj6RUA1RiHHXgFbVtusovyzHqh/6VDomteaZlZpk4dbqpE6UDDXvozjOX0RhRvQDqyhN4p6g==","secret":"v1:4bb06f8e:RfY3xEAqYOTg+9moQmbqZk7zGTQaoP3yxKfIkjhiSQFSZ3llRuko5cdk0ocwnNSVMmx0sgqr/3sFTbylC0Q="},"webPush":{"enabled":true,"vapidPublicKey":"BK7R199z8Wl_utHPHti4ysrrQOSMQbi8DlZDUKSXDVrsid7EllFVNrv_-cY1NAUdZIPwDr9ssUaLK8DX8FKMjBk","vapidPrivateKey":"v1:4bb06f8e:2Th7q4J396mxQhPcus1Vdi1eJ/UogcKtT/o7S69v9OGwviHl+Cs2xK2ppNJdGQGaIQ1gqYCjUY6rHnfvoyXT+WXa8EqIBQY=","vapidSubject":"mailto:ops@example.org"},"instances":{"chat":"notify.chatmain","email":"notify.emailmain","webPush":"notify.webpushmain","webhook":"notify.webhookmain"},"channels":{"main":false}}',1795355094517);
INSERT INTO containers_settings VALUES('system','{"backup":{"enabled":true,"requireSuccess":true,"baseDir":"/data/backups","skipTargetsOverBytes":104857600},"resourceMonitor":{"enabled":true,"sampleIntervalSeconds":30,"retentionDays":7},"schedules":{"updateCheck":{"enabled":true,"cron":"15 4 * * *"},"ghcrWebhookAudit":{"enabled":true,"cron":"0 3 * * *"}},"instance":{"publicBaseUrl":"https://patchbay.example/"}}',1795355104862);
INSERT INTO containers_settings VALUES('host_packages','{"enabled":false,"callbackUrl":"https://patchbay.example/api/webhooks/host-packages","pat":"v1:4bb06f8e:PDCXhE4SscRLv04tVs1TVHnSOY+f6cXO7m9Jh+YV13cEi6WW","secret":"v1:4bb06f8e:TJfxLyCr8k/A7HsXC6bLKkozYOswZEuEF5b2nZEmeduup+v5WY0br8phYx6F8o379PUvg2ViVChMGQvwdAU9fa/K6EUXjYg1eITbkg=="}',1795355104863);
CREATE TABLE containers_manifests (
    digest     TEXT PRIMARY KEY,
    platforms  TEXT,
    created_at INTEGER NOT NULL
) STRICT;
INSERT INTO containers_manifests VALUES('sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0','[{"os":"linux","arch":"amd64","digest":"sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0"}]',1795355094579);
INSERT INTO containers_manifests VALUES('sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb1','[{"os":"linux","arch":"amd64","digest":"sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb1"}]',1795355094579);
CREATE TABLE containers_snapshots (
    repo       TEXT NOT NULL,
    digest     TEXT NOT NULL,
    platform   TEXT NOT NULL,
    tags       TEXT,
    version    TEXT NOT NULL DEFAULT '',
    scan       TEXT NOT NULL,
    failed     INTEGER NOT NULL DEFAULT 0,
    checked_at INTEGER NOT NULL,
    PRIMARY KEY (repo, digest, platform)
) STRICT;
CREATE TABLE containers_changes (
    id           TEXT PRIMARY KEY,
    job_id       TEXT NOT NULL,
    kind         TEXT NOT NULL CHECK (kind IN ('update', 'rollback')),
    stack_id     TEXT NOT NULL,
    service_id   TEXT NOT NULL,
    status       TEXT NOT NULL CHECK (status IN ('running', 'success', 'failed', 'rolled_back')),
    step         TEXT NOT NULL,
    image        TEXT NOT NULL,
    from_image   TEXT NOT NULL DEFAULT '',
    from_digest  TEXT NOT NULL DEFAULT '',
    from_version TEXT NOT NULL DEFAULT '',
    from_state   TEXT NOT NULL DEFAULT '',
    to_image     TEXT NOT NULL DEFAULT '',
    to_digest    TEXT NOT NULL DEFAULT '',
    to_version   TEXT NOT NULL DEFAULT '',
    error        TEXT NOT NULL DEFAULT '',
    started_at   INTEGER NOT NULL,
    finished_at  INTEGER NOT NULL DEFAULT 0
, replicas INTEGER NOT NULL DEFAULT 0, dependents TEXT) STRICT;
CREATE TABLE containers_backups (
    id            TEXT PRIMARY KEY,
    stack_id      TEXT NOT NULL,
    service_id    TEXT NOT NULL,
    job_id        TEXT NOT NULL DEFAULT '',
    kind          TEXT NOT NULL,
    target        TEXT NOT NULL,
    destination   TEXT NOT NULL,
    status        TEXT NOT NULL,
    path          TEXT NOT NULL DEFAULT '',
    size          INTEGER NOT NULL DEFAULT 0,
    digest        TEXT NOT NULL DEFAULT '',
    error         TEXT NOT NULL DEFAULT '',
    created_at    INTEGER NOT NULL,
    finished_at   INTEGER NOT NULL DEFAULT 0,
    cleanup_after INTEGER NOT NULL DEFAULT 0,
    deleted_at    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE containers_samples (
    service_id   TEXT NOT NULL,
    at           INTEGER NOT NULL,
    cpu          REAL NOT NULL,
    mem_used     INTEGER NOT NULL,
    mem_limit    INTEGER NOT NULL,
    net_rx       INTEGER NOT NULL,
    net_tx       INTEGER NOT NULL,
    block_read   INTEGER NOT NULL,
    block_write  INTEGER NOT NULL,
    pids         INTEGER NOT NULL,
    containers   INTEGER NOT NULL,
    PRIMARY KEY (service_id, at)
) STRICT, WITHOUT ROWID;
CREATE TABLE containers_targets (
    input      TEXT PRIMARY KEY,
    kind       TEXT NOT NULL,
    owner      TEXT NOT NULL,
    warnings   TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL
) STRICT;
CREATE TABLE containers_repos (
    name          TEXT PRIMARY KEY,
    full_name     TEXT NOT NULL,
    selected      INTEGER NOT NULL DEFAULT 0,
    visibility    TEXT NOT NULL DEFAULT '',
    last_activity INTEGER NOT NULL DEFAULT 0,
    webhook_state TEXT NOT NULL DEFAULT 'unknown',
    hook_id       TEXT NOT NULL DEFAULT '',
    job_id        TEXT NOT NULL DEFAULT '',
    removing      INTEGER NOT NULL DEFAULT 0,
    last_op       TEXT NOT NULL DEFAULT '',
    last_error    TEXT NOT NULL DEFAULT '',
    last_sync_at  INTEGER NOT NULL DEFAULT 0,
    last_audit_at INTEGER NOT NULL DEFAULT 0,
    created_at    INTEGER NOT NULL
) STRICT;
CREATE TABLE containers_deliveries (
    delivery_id   TEXT PRIMARY KEY,
    first_at      INTEGER NOT NULL,
    last_at       INTEGER NOT NULL,
    owner         TEXT NOT NULL DEFAULT '',
    full_name     TEXT NOT NULL DEFAULT '',
    event         TEXT NOT NULL DEFAULT '',
    action        TEXT NOT NULL DEFAULT '',
    decision      TEXT NOT NULL CHECK (decision IN ('processed', 'ignored', 'rejected')),
    reason        TEXT NOT NULL DEFAULT '',
    status        INTEGER NOT NULL,
    job_ids       TEXT NOT NULL DEFAULT '',
    attempts      INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE TABLE containers_delivery_events (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    at   INTEGER NOT NULL,
    data TEXT NOT NULL
) STRICT;
CREATE TABLE containers_new_versions (
    id                    TEXT PRIMARY KEY,
    service_id            TEXT NOT NULL,
    job_id                TEXT NOT NULL,
    reason                TEXT NOT NULL,
    message_id            TEXT NOT NULL DEFAULT '',
    image_ref             TEXT NOT NULL,
    image_tag             TEXT NOT NULL,
    current_tag           TEXT NOT NULL,
    current_display_tag   TEXT NOT NULL,
    candidate_tag         TEXT NOT NULL,
    candidate_display_tag TEXT NOT NULL,
    candidate_digest      TEXT NOT NULL,
    status                TEXT NOT NULL CHECK (status IN ('pending', 'sent', 'superseded', 'failed')),
    sent_channels         TEXT NOT NULL DEFAULT '[]',
    created_at            INTEGER NOT NULL,
    sent_at               INTEGER NOT NULL DEFAULT 0,
    superseded_at         INTEGER NOT NULL DEFAULT 0,
    last_error            TEXT NOT NULL DEFAULT ''
) STRICT;
INSERT INTO containers_new_versions VALUES('nvn_01M81R1NCRWW0ZMG1DXPA8E4TF','svc_01M81R1BH4F4NFC23N8DNY6AJP','job_01M81R1BHHNERF90NB5ZANX1J5','schedule','ntm_01M81R1NDW6TCKQ937XCHXAX3V','registry.example/blog/db:1','1','1','','1','','sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb1','sent','["chat","webPush","webhook"]',1795355104664,1795355104736,0,'');
INSERT INTO containers_new_versions VALUES('nvn_01M81R1NCRWW0ZMG1DXRGSX3WN','svc_01M81R1BH4F4NFC23N8G2KPXDQ','job_01M81R1BHHNERF90NB5ZANX1J5','schedule','ntm_01M81R1NDW6TCKQ937XCHXAX3V','registry.example/blog/web:1','1','1','','1','','sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0','sent','["chat","webPush","webhook"]',1795355104664,1795355104736,0,'');
INSERT INTO containers_new_versions VALUES('nvn_01M81R1NCRWW0ZMG1DXVGFBV9W','svc_01M81R1BH5MCHQ9SVWY39HR0YA','job_01M81R1BHHNERF90NB5ZANX1J5','schedule','ntm_01M81R1NDW6TCKQ937XCHXAX3V','registry.example/wiki/app:1','1','1','','1','','sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0','sent','["chat","webPush","webhook"]',1795355104664,1795355104736,0,'');
CREATE TABLE containers_push_subscriptions (
    id         TEXT PRIMARY KEY,
    endpoint   TEXT NOT NULL UNIQUE,
    p256dh     TEXT NOT NULL,
    auth       TEXT NOT NULL,
    label      TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
INSERT INTO containers_push_subscriptions VALUES('psh_01M81R1BFNDAV7XMMMA8RPRECP','https://push.example/one','v1:4bb06f8e:o9bv1c6tBkVP7YliuuCM+J8+qLune6SrLi/l+yPljtZna7pudIulV3RuQtzMSl3nIkW9O+cp1BWVxpULHn0Ol4eIIY5ZqPCan0uGVnyA8afHn9SSdRcMjr2pGqByfAwexpO42bzOaWmdC5J54iDigCE0Yg==','v1:4bb06f8e:0/36fR7J2b41DVkJ3uelbnx9/S5zFjRmLmpJno/l90J2+FoMeriKI5gq5sjDu3vKxIM=','browser one','anonymous',1795355094517,1795355094517);
INSERT INTO containers_push_subscriptions VALUES('psh_01M81R1BFNDAV7XMMMAA1WKQWP','https://push.example/two','v1:4bb06f8e:uXpuZ0iQT4uDI7S6fvC3vBjAL83GeOzlYqA+M5aN3FLOg8sW7Nv+Cgl5XzyhIhkMTyB+hIptUtZYZwdFLuXGSeu8kyeTvHnfuacKj/yLUJE4JFeQEReA21TXP+SmWoZ8jHfHQHYYHRf+erlTH8sl3NfFZw==','v1:4bb06f8e:+PWhc3dr81EG2/410zgaALh5DXe23i2a3Zp3FyZ1+T9em4q7S2Eth0fCT8utiL48X1Y=','browser two','anonymous',1795355094517,1795355094517);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('goose_store',2);
INSERT INTO sqlite_sequence VALUES('goose_queue',3);
INSERT INTO sqlite_sequence VALUES('goose_notify',4);
INSERT INTO sqlite_sequence VALUES('goose_auth',8);
INSERT INTO sqlite_sequence VALUES('goose_search',6);
INSERT INTO sqlite_sequence VALUES('goose_containers',7);
INSERT INTO sqlite_sequence VALUES('job_events',32);
CREATE UNIQUE INDEX jobs_dedup ON jobs (type, dedup_key) WHERE state IN ('queued', 'running') AND dedup_key <> '';
CREATE INDEX jobs_due ON jobs (state, run_at, id) WHERE state = 'queued';
CREATE INDEX jobs_running ON jobs (state, heartbeat_at) WHERE state = 'running';
CREATE INDEX jobs_finished ON jobs (finished_at) WHERE finished_at > 0;
CREATE INDEX jobs_created ON jobs (created_at, id);
CREATE INDEX jobs_state ON jobs (state, created_at, id);
CREATE INDEX jobs_type ON jobs (type, created_at, id);
CREATE INDEX job_locks_job ON job_locks (job_id);
CREATE INDEX jobs_type_state ON jobs (type, state, created_at, id);
CREATE INDEX job_tags_job ON job_tags (job_id);
CREATE UNIQUE INDEX notify_messages_key ON notify_messages (service, key);
CREATE INDEX notify_deliveries_message ON notify_deliveries (message_id);
CREATE INDEX notify_deliveries_name ON notify_deliveries (service, name, id);
CREATE INDEX notify_messages_created ON notify_messages (created_at);
CREATE INDEX notify_deliveries_ended ON notify_deliveries (ended_at);
CREATE INDEX notify_messages_service ON notify_messages (service, id);
CREATE INDEX api_keys_user ON api_keys (user_id);
CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_key ON sessions (key_id);
CREATE INDEX sessions_expires ON sessions (expires_at);
CREATE INDEX passkeys_user ON passkeys (user_id);
CREATE INDEX passkey_challenges_expires ON passkey_challenges (expires_at);
CREATE INDEX setup_links_user ON setup_links (user_id);
CREATE INDEX account_events_at ON account_events (at);
CREATE INDEX account_events_actor ON account_events (actor_id, id);
CREATE INDEX account_events_user ON account_events (user_id, id);
CREATE INDEX account_events_action ON account_events (action, id);
CREATE INDEX search_tokens_updated ON search_tokens (updated_at);
CREATE INDEX search_keys_updated ON search_keys (updated_at);
CREATE INDEX search_requests_open ON search_requests (id) WHERE outcome = 0;
CREATE INDEX quota_usage_minute ON quota_usage (minute);
CREATE INDEX search_research_created ON search_research (created_at);
CREATE INDEX search_tokens_live ON search_tokens (created_at, id, group_name, note) WHERE deleted_at = 0;
CREATE INDEX search_tokens_group ON search_tokens (group_name, created_at, id) WHERE deleted_at = 0;
CREATE INDEX search_tokens_owner ON search_tokens (owner_id, created_at, id) WHERE deleted_at = 0;
CREATE INDEX search_tokens_frozen ON search_tokens (created_at, id) WHERE deleted_at = 0 AND NOT enabled;
CREATE INDEX search_keys_quota ON search_keys (quota_limit, quota_used) WHERE deleted_at = 0;
CREATE INDEX search_keys_live ON search_keys (created_at, id) WHERE deleted_at = 0;
CREATE INDEX search_keys_group ON search_keys (group_name, state, created_at, id) WHERE deleted_at = 0;
CREATE INDEX search_keys_state ON search_keys (state, created_at, id) WHERE deleted_at = 0;
CREATE INDEX search_key_events_key ON search_key_events (key_id, id);
CREATE INDEX search_requests_token ON search_requests (token_id, id);
CREATE INDEX search_requests_key ON search_requests (key_id, id) WHERE key_id <> '';
CREATE INDEX search_requests_outcome ON search_requests (outcome, id) WHERE outcome >= 2;
CREATE INDEX search_requests_operation ON search_requests (operation, id) WHERE operation <> 'search';
CREATE INDEX search_rollups_start ON search_rollups (step, start);
CREATE UNIQUE INDEX containers_stacks_project ON containers_stacks (project);
CREATE UNIQUE INDEX containers_services_name ON containers_services (stack_id, name);
CREATE INDEX containers_services_repo ON containers_services (repo);
CREATE INDEX containers_ignores_service ON containers_ignores (service_id);
CREATE INDEX containers_snapshots_checked ON containers_snapshots (checked_at);
CREATE UNIQUE INDEX containers_changes_job ON containers_changes (job_id, service_id);
CREATE INDEX containers_changes_running ON containers_changes (service_id) WHERE status = 'running';
CREATE INDEX containers_changes_service ON containers_changes (service_id, started_at, id);
CREATE INDEX containers_backups_service ON containers_backups (service_id, created_at, id);
CREATE INDEX containers_backups_job ON containers_backups (job_id);
CREATE INDEX containers_backups_due ON containers_backups (cleanup_after) WHERE deleted_at = 0 AND cleanup_after > 0;
CREATE INDEX containers_samples_at ON containers_samples (at);
CREATE INDEX containers_deliveries_last ON containers_deliveries (last_at, delivery_id);
CREATE INDEX containers_delivery_events_at ON containers_delivery_events (at);
CREATE UNIQUE INDEX containers_new_versions_active ON containers_new_versions (service_id, candidate_digest) WHERE status IN ('pending', 'sent');
CREATE INDEX containers_new_versions_status ON containers_new_versions (status);
CREATE INDEX containers_new_versions_message ON containers_new_versions (message_id);
CREATE INDEX containers_new_versions_created ON containers_new_versions (created_at);
COMMIT;
