package queue

import (
	"fmt"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/queue/tickets"
)

const (
	// ticketAge is for how long a ticket that is due, or that a worker has taken, may do nothing before it counts as lost, in seconds.
	ticketAge = 15
	// ticketBatch bounds the tickets that one statement makes.
	ticketBatch = 1000
	// farTicket is from when on a ticket is scheduled by River's leader, in milliseconds. Nearer ones wait where workers look.
	farTicket = 30_000
	// placeMark stands between the type and the place in the kind of a ticket.
	placeMark = "@"
	// sqlKind is the kind of the ticket of a row of jobs.
	sqlKind = `CASE WHEN place = '' THEN type ELSE type || '` + placeMark + `' || place END`
)

// sqlTicketColumns and sqlTicketValues make a ticket of a row of jobs. {kind} and {queue} depend on the type of the job.
const (
	sqlTicketColumns = `river_job (id, args, kind, max_attempts, queue, scheduled_at, state)`
	sqlTicketValues  = `ticket, jsonb_build_object('job', id, 'claims', claims, 'type', type), ` + sqlKind + `, 1, {queue}, to_timestamp(run_at / 1000.0),
		(CASE WHEN run_at > {now} + {far} THEN 'scheduled' ELSE 'available' END)::river_job_state`
)

var (
	// sqlSubmitTicketed stores a job, its first event and its ticket, unless there is one with the same dedup key. Without a run_at it may
	// begin now, by the clock of the database.
	sqlSubmitTicketed = ticketSQL("$9", `WITH made AS (
			INSERT INTO jobs (id, type, state, dedup_key, actor, payload, last_seq, run_at, created_at, ticket, place)
			SELECT $1, $2, 'queued', $3, $4, $5, 1, CASE WHEN $6::bigint = 0 THEN {now} ELSE $6::bigint END, $7,
				CASE WHEN $8::boolean THEN nextval('river_job_id_seq') ELSE 0 END, $10 ON CONFLICT DO NOTHING RETURNING *),
		told AS (INSERT INTO job_events (job_id, seq, job_type, at, type, data)
			SELECT id, last_seq, type, $7, '`+EventQueued+`', '{"state":"queued"}' FROM made),
		ticketed AS (INSERT INTO `+sqlTicketColumns+` SELECT `+sqlTicketValues+` FROM made WHERE ticket <> 0)
		SELECT run_at FROM made`)
	// sqlBegin begins a job by its ticket: nobody else can then, since claims differs. A row that is locked is left alone.
	sqlBegin = ticketSQL("", `WITH begun AS (
			UPDATE jobs SET state = 'running', owner = $1, heartbeat_at = {now}, attempt = attempt + 1, claims = claims + 1,
			last_seq = last_seq + 1, step = '', percent = 0, started_at = CASE WHEN started_at = 0 THEN $2 ELSE started_at END
			WHERE id = (SELECT id FROM jobs WHERE id = $3 AND state = 'queued' AND claims = $4 AND run_at <= {now} FOR UPDATE SKIP LOCKED)
			RETURNING *),
		told AS (INSERT INTO job_events (job_id, seq, job_type, at, type, data)
			SELECT id, last_seq, type, $2, '`+EventRunning+`', '{"attempt":' || attempt || ',"state":"running"}' FROM begun)
		SELECT `+rowColumns+`, COALESCE((SELECT data FROM job_checkpoints c WHERE c.job_id = begun.id), '') FROM begun`)
	// sqlBeginOwned is sqlBegin where nodes share the database: one that was taken for dead begins nothing.
	sqlBeginOwned = strings.Replace(sqlBegin, "FOR UPDATE SKIP LOCKED",
		"AND EXISTS (SELECT 1 FROM core_nodes n WHERE n.ended_at = 0 AND n.id || '/' || n.epoch = $1) FOR UPDATE SKIP LOCKED", 1)
	// sqlMayBegin finds a job that sqlBegin has left alone because its row was locked.
	sqlMayBegin = ticketSQL("", `SELECT count(*) FROM jobs WHERE id = $1 AND state = 'queued' AND claims = $2 AND run_at <= {now}`)
	// sqlSucceed ends a job that has succeeded.
	sqlSucceed = `WITH ended AS (
			UPDATE jobs SET state = 'success', result = $1, error_code = '', error_message = '', reason = '', owner = '', finished_at = $2,
			percent = 100, last_seq = last_seq + 1 WHERE id = $3 AND owner = $4 AND claims = $5 AND state = 'running' RETURNING *),
		freed AS (DELETE FROM job_locks WHERE job_id = (SELECT id FROM ended)),
		told AS (INSERT INTO job_events (job_id, seq, job_type, at, type, data)
			SELECT id, last_seq, type, $2, '` + EventFinished + `', $6 FROM ended)
		SELECT ` + rowColumns + `, '' FROM ended`
	// sqlTicket gives a queued job another ticket.
	sqlTicket = ticketSQL("?", `WITH open AS (UPDATE jobs SET ticket = CASE WHEN ? THEN nextval('river_job_id_seq') ELSE 0 END
			WHERE id = ? AND state = 'queued' RETURNING *)
		INSERT INTO `+sqlTicketColumns+` SELECT `+sqlTicketValues+` FROM open WHERE ticket <> 0`)
)

// The queues of River that limited types have stand in the place of {queue}: see batchTicketSQL.
const (
	// sqlTicketMissing gives tickets to the jobs that were submitted without one.
	sqlTicketMissing = `WITH chosen AS (SELECT id FROM jobs WHERE state = 'queued' AND ticket = 0 AND type IN ?
			ORDER BY run_at, id LIMIT ? FOR UPDATE SKIP LOCKED),
		open AS (UPDATE jobs SET ticket = nextval('river_job_id_seq') FROM chosen WHERE jobs.id = chosen.id RETURNING jobs.*)
		INSERT INTO ` + sqlTicketColumns + ` SELECT ` + sqlTicketValues + ` FROM open`
	// sqlTicketLost gives other tickets to those jobs that are due and whose ticket cannot make them begin any more: its worker has died,
	// or it was lost with the tables of River, as after a restore.
	sqlTicketLost = `WITH chosen AS (
			SELECT j.id, t.id AS old FROM jobs j LEFT JOIN river_job t ON t.id = j.ticket AND t.args->>'job' = j.id
			WHERE j.state = 'queued' AND j.ticket <> 0 AND j.run_at < {now} - {age} * 1000 AND j.type IN ?
			AND (t.id IS NULL OR t.state NOT IN ('available', 'scheduled', 'retryable', 'running')
				OR t.state = 'running' AND t.attempted_at < now() - {age} * interval '1 second'
				OR t.queue <> {queue})
			ORDER BY j.run_at, j.id LIMIT ? FOR UPDATE OF j SKIP LOCKED),
		gone AS (DELETE FROM river_job WHERE id IN (SELECT old FROM chosen)),
		open AS (UPDATE jobs SET ticket = nextval('river_job_id_seq') FROM chosen WHERE jobs.id = chosen.id RETURNING jobs.*)
		INSERT INTO ` + sqlTicketColumns + ` SELECT ` + sqlTicketValues + ` FROM open`
)

// ticketSQL returns a statement for PostgreSQL with its clock. queue is the expression for the queue of River in which the ticket waits.
func ticketSQL(queue, sql string) string {
	return strings.NewReplacer("{now}", postgresNow, "{queue}", queue, "{age}", fmt.Sprint(ticketAge), "{far}", fmt.Sprint(farTicket)).Replace(sql)
}

// batchTicketSQL is ticketSQL for the tickets of several types.
func batchTicketSQL(handlers map[string]*Handler, sql string) string {
	limited := []string{"''"}
	for _, h := range handlers {
		if h.Limit > 0 {
			limited = append(limited, "'"+strings.ReplaceAll(h.Type, "'", "''")+"'")
		}
	}
	slices.Sort(limited)
	return ticketSQL("CASE WHEN type IN ("+strings.Join(limited, ", ")+") THEN '"+tickets.Limited+"' ELSE '"+tickets.Open+"' END", sql)
}
