package audit

import (
	"context"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/store"
)

// batch is one group commit: new rows, ends of rows that were written open, bodies, research ids, and the sums of the
// quota by token and minute.
type batch struct {
	records  []*Record
	inserts  []Entry
	updates  []Entry
	bodies   []BodyRecord
	research []ResearchRecord
	usage    map[usageKey]*UsageRecord
}

type usageKey struct {
	token  string
	minute int64
}

func newBatch(n int) *batch {
	return &batch{inserts: make([]Entry, 0, n), usage: make(map[usageKey]*UsageRecord, min(n, 64))}
}

func (b *batch) empty() bool { return len(b.records) == 0 }

// addRecord adds a record as it is now. What it counts for the quota is counted once: the request with its first write, the
// credits and the outcome with its end.
func (b *batch) addRecord(r *Record) {
	b.records = append(b.records, r)
	if r.written {
		b.updates = append(b.updates, r.Entry)
		if !r.Finished {
			return
		}
	}
	u := b.usageRecord(r.TokenID, r.startMinute())
	if !r.written {
		b.inserts = append(b.inserts, r.Entry)
		if r.Outcome != Refused {
			u.Requests++
		}
	}
	if !r.Finished {
		return
	}
	u.Credits += r.Credits
	switch r.Outcome {
	case Success:
		u.Successes++
	case Failure:
		u.Errors++
	case Refused:
		u.Refused++
	}
	if r.RequestBody != nil || r.ResponseBody != nil {
		b.bodies = append(b.bodies, BodyRecord{r.ID, r.RequestBody, r.ResponseBody})
	}
	if r.Research != "" {
		b.research = append(b.research, ResearchRecord{r.Research, r.TokenID, r.KeyID, r.Backend, r.Time.UnixMilli()})
	}
}

func (b *batch) usageRecord(token string, minute int64) *UsageRecord {
	k := usageKey{token, minute}
	u := b.usage[k]
	if u == nil {
		u = &UsageRecord{TokenID: token, Minute: minute}
		b.usage[k] = u
	}
	return u
}

const (
	insertInto  = "INSERT INTO search_requests (id,time,request_id,token_id,key_id,backend,operation,outcome,status,upstream_status,credits,duration_us,upstream_us,plugin_us,attempts,request_bytes,response_bytes,client,error_code,cached,detail) VALUES "
	rowColumns  = 21
	maxRows     = 64
	updateRow   = "UPDATE search_requests SET key_id=?,backend=?,outcome=?,status=?,upstream_status=?,credits=?,duration_us=?,upstream_us=?,plugin_us=?,attempts=?,response_bytes=?,error_code=?,cached=?,detail=? WHERE id=?"
	upsertUsage = "INSERT INTO quota_usage (token_id,minute,requests,credits,successes,errors,refused) VALUES (?,?,?,?,?,?,?) ON CONFLICT (token_id,minute) DO UPDATE SET " +
		"requests=quota_usage.requests+excluded.requests,credits=quota_usage.credits+excluded.credits,successes=quota_usage.successes+excluded.successes,errors=quota_usage.errors+excluded.errors,refused=quota_usage.refused+excluded.refused"
)

// insertSizes are the numbers of rows that one INSERT takes, largest first. They are few, so that the connection keeps
// all of them prepared.
var insertSizes = [...]int{maxRows, 16, 4, 1}

// statements are the texts of the hot statements in one dialect. They go past gorm, whose building of statements would
// cost more than the rest of a write.
type statements struct {
	// insert are the statements for insertSizes.
	insert [len(insertSizes)]string
	update string
	upsert string
}

func newStatements(d store.Dialect) *statements {
	s := &statements{update: d.Bind(updateRow), upsert: d.Bind(upsertUsage)}
	row := "(" + strings.TrimSuffix(strings.Repeat("?,", rowColumns), ",") + ")"
	for i, n := range insertSizes {
		s.insert[i] = d.Bind(insertInto + strings.TrimSuffix(strings.Repeat(row+",", n), ","))
	}
	return s
}

// write writes the batch in one transaction. again says that it was tried before: the commit may have gone through
// though its answer was lost, and nothing may be counted twice.
func (b *batch) write(ctx context.Context, st *store.Store, sql *statements, again bool) error {
	return st.Tx(ctx, "audit", func(ctx context.Context) error {
		w := st.Writer(ctx)
		if again {
			if done, err := b.isWritten(w); done || err != nil {
				return err
			}
		}
		conn := w.Statement.ConnPool
		rows := b.inserts
		for i, n := range insertSizes {
			for ; len(rows) >= n; rows = rows[n:] {
				if _, err := conn.ExecContext(ctx, sql.insert[i], insertArgs(rows[:n])...); err != nil {
					return err
				}
			}
		}
		for i := range b.updates {
			e := &b.updates[i]
			if _, err := conn.ExecContext(ctx, sql.update, e.KeyID, e.Backend, int(e.Outcome), e.Status, e.Upstream, e.Credits,
				e.Duration.Microseconds(),
				e.UpstreamTime.Microseconds(), e.PluginTime.Microseconds(), e.Attempts, e.ResponseBytes, e.ErrorCode, e.Cached, e.Detail,
				e.ID); err != nil {
				return err
			}
		}
		for _, u := range b.usage {
			if _, err := conn.ExecContext(ctx, sql.upsert, u.TokenID, u.Minute, u.Requests, u.Credits, u.Successes, u.Errors,
				u.Refused); err != nil {
				return err
			}
		}
		return b.writeExtras(w)
	})
}

// isWritten looks for one row of the batch that counts: a new one is there, one that has ended is open no more. A batch without
// such a row may be written twice.
func (b *batch) isWritten(w *gorm.DB) (bool, error) {
	var n int64
	rows := w.Table("search_requests")
	ended := slices.IndexFunc(b.updates, func(e Entry) bool { return e.Outcome != Open })
	switch {
	case len(b.inserts) > 0:
		rows = rows.Where("id = ?", b.inserts[0].ID)
	case ended >= 0:
		rows = rows.Where("id = ? AND outcome <> 0", b.updates[ended].ID)
	default:
		return false, nil
	}
	err := rows.Count(&n).Error
	return n > 0, err
}

func (b *batch) writeExtras(w *gorm.DB) error {
	if len(b.bodies) > 0 {
		if err := w.CreateInBatches(&b.bodies, maxRows).Error; err != nil {
			return err
		}
	}
	if len(b.research) > 0 {
		return w.Clauses(clause.OnConflict{DoNothing: true}).CreateInBatches(&b.research, maxRows).Error
	}
	return nil
}

func insertArgs(rows []Entry) []any {
	args := make([]any, 0, len(rows)*rowColumns)
	for i := range rows {
		e := &rows[i]
		args = append(args, e.ID, e.Time.UnixMilli(), e.RequestID, e.TokenID, e.KeyID, e.Backend, e.Operation, int(e.Outcome), e.Status,
			e.Upstream, e.Credits,
			e.Duration.Microseconds(), e.UpstreamTime.Microseconds(), e.PluginTime.Microseconds(), e.Attempts, e.RequestBytes, e.ResponseBytes,
			e.Client, e.ErrorCode, e.Cached, e.Detail)
	}
	return args
}
