package audit

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/store"
)

// batch is one group commit: new rows, ends of rows that were written open, bodies, research ids, and the sums of the
// quota by token and minute.
type batch struct {
	records []*Record
	inserts []Entry
	// inserted are the records of inserts.
	inserted []*Record
	// lost are the updates whose rows another core has ended meanwhile: what they count was counted then.
	lost     map[int]bool
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
		b.inserts, b.inserted = append(b.inserts, r.Entry), append(b.inserted, r)
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
	insertInto = "INSERT INTO search_requests (id,time,request_id,token_id,key_id,backend,operation,outcome,status,upstream_status,credits,duration_us,upstream_us,plugin_us,attempts,request_bytes,response_bytes,client,error_code,cached,detail"
	rowColumns = 21
	// nodeColumns are those that a row has more where several cores write.
	nodeColumns = ",writer,ended_seq"
	maxRows     = 64
	updateRow   = "UPDATE search_requests SET key_id=?,backend=?,outcome=?,status=?,upstream_status=?,credits=?,duration_us=?,upstream_us=?,plugin_us=?,attempts=?,response_bytes=?,error_code=?,cached=?,detail=?"
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

func newStatements(d store.Dialect, shared bool) *statements {
	s := &statements{update: d.Bind(updateRow + " WHERE id=?"), upsert: d.Bind(upsertUsage)}
	into, columns := insertInto+") VALUES ", rowColumns
	if shared {
		into, columns = insertInto+nodeColumns+") VALUES ", rowColumns+2
		s.update = d.Bind(updateRow + ",ended_seq=? WHERE id=? AND outcome=0")
	}
	row := "(" + strings.TrimSuffix(strings.Repeat("?,", columns), ",") + ")"
	for i, n := range insertSizes {
		s.insert[i] = d.Bind(into + strings.TrimSuffix(strings.Repeat(row+",", n), ","))
	}
	return s
}

// write writes the batch in one transaction. again says that it was tried before: the commit may have gone through
// though its answer was lost, and nothing may be counted twice. node is nil for a core alone.
func (b *batch) write(ctx context.Context, st *store.Store, sql *statements, node *nodeWriter, again bool) error {
	return st.Tx(ctx, "audit", func(ctx context.Context) error {
		w := st.Writer(ctx)
		if again {
			if done, err := b.isWritten(w); done || err != nil {
				return err
			}
		}
		if node != nil {
			if err := node.store.fenceWriter(ctx, node.id); err != nil {
				return err
			}
		}
		conn := w.Statement.ConnPool
		rows := b.inserts
		for i, n := range insertSizes {
			for ; len(rows) >= n; rows = rows[n:] {
				if _, err := conn.ExecContext(ctx, sql.insert[i], insertArgs(rows[:n], node)...); err != nil {
					return err
				}
			}
		}
		for i := range b.updates {
			res, err := conn.ExecContext(ctx, sql.update, b.updates[i].updateArgs(node)...)
			if err != nil {
				return err
			}
			if n, err := res.RowsAffected(); node != nil && err == nil && n == 0 {
				b.dropUpdate(i)
			}
		}
		for _, u := range b.sortedUsage() {
			if _, err := conn.ExecContext(ctx, sql.upsert, u.TokenID, u.Minute, u.Requests, u.Credits, u.Successes, u.Errors,
				u.Refused); err != nil {
				return err
			}
		}
		return b.writeExtras(w)
	})
}

// sortedUsage returns what the batch adds to the use of tokens, in the order in which everybody locks those rows.
func (b *batch) sortedUsage() []*UsageRecord {
	return slices.SortedFunc(maps.Values(b.usage), func(a, b *UsageRecord) int {
		return cmp.Or(cmp.Compare(a.TokenID, b.TokenID), cmp.Compare(a.Minute, b.Minute))
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
		// One that was interrupted has been ended by another core, not by this write.
		rows = rows.Where("id = ? AND outcome NOT IN ?", b.updates[ended].ID, []Outcome{Open, Interrupted})
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

// dropUpdate leaves out what an update counts.
func (b *batch) dropUpdate(i int) {
	e := &b.updates[i]
	if b.lost[i] || e.Outcome == Open {
		return
	}
	if b.lost == nil {
		b.lost = map[int]bool{}
	}
	b.lost[i] = true
	u := b.usageRecord(e.TokenID, e.startMinute())
	u.Credits -= e.Credits
	switch e.Outcome {
	case Success:
		u.Successes--
	case Failure:
		u.Errors--
	}
}

// keptUpdates returns the updates that count.
func (b *batch) keptUpdates() []Entry {
	if len(b.lost) == 0 {
		return b.updates
	}
	var out []Entry
	for i := range b.updates {
		if !b.lost[i] {
			out = append(out, b.updates[i])
		}
	}
	return out
}

func (e *Entry) updateArgs(node *nodeWriter) []any {
	args := []any{e.KeyID, e.Backend, int(e.Outcome), e.Status, e.Upstream, e.Credits, e.Duration.Microseconds(),
		e.UpstreamTime.Microseconds(), e.PluginTime.Microseconds(), e.Attempts, e.ResponseBytes, e.ErrorCode, e.Cached, e.Detail}
	if node != nil {
		args = append(args, e.endedSeq)
	}
	return append(args, e.ID)
}

func insertArgs(rows []Entry, node *nodeWriter) []any {
	args := make([]any, 0, len(rows)*(rowColumns+2))
	for i := range rows {
		e := &rows[i]
		args = append(args, e.ID, e.Time.UnixMilli(), e.RequestID, e.TokenID, e.KeyID, e.Backend, e.Operation, int(e.Outcome), e.Status,
			e.Upstream, e.Credits,
			e.Duration.Microseconds(), e.UpstreamTime.Microseconds(), e.PluginTime.Microseconds(), e.Attempts, e.RequestBytes, e.ResponseBytes,
			e.Client, e.ErrorCode, e.Cached, e.Detail)
		if node != nil {
			args = append(args, node.id, e.endedSeq)
		}
	}
	return args
}
