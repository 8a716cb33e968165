package auth

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts"
)

// What can happen to an account.
const (
	EventUserCreated     = "user.create"
	EventUserClaimed     = "user.claim"
	EventUserRenamed     = "user.rename"
	EventUserRole        = "user.role"
	EventUserDisabled    = "user.disable"
	EventUserEnabled     = "user.enable"
	EventUserReset       = "user.reset"
	EventKeyCreated      = "api_key.create"
	EventKeyRevealed     = "api_key.reveal"
	EventKeyRevoked      = "api_key.revoke"
	EventPasskeyAdded    = "passkey.register"
	EventPasskeyRenamed  = "passkey.rename"
	EventPasskeyChecked  = "passkey.check"
	EventPasskeyRevoked  = "passkey.revoke"
	EventSessionBegan    = "session.begin"
	EventSessionEnded    = "session.end"
	EventSetupLinkMade   = "setup_link.create"
	EventSetupLinkOpened = "setup_link.use"
)

// The results of what was tried.
const (
	ResultOK      = "ok"
	ResultRefused = "refused"
	ResultFailed  = "failed"
	// ResultStarted is that of a request whose end is not known: it is under way, or the core ended with it.
	ResultStarted = "started"
)

// Event is one line of the audit: who did what to whom or what, from where, when, and with what result. It holds no secrets.
type Event struct {
	ID string `gorm:"primaryKey"`
	// At is in Unix milliseconds.
	At     int64
	Action string
	Result string
	// ActorID is "" for one who is not, or not known to be, a user.
	ActorID   string
	ActorName string
	Via       Via
	Address   string
	// TargetID and TargetName are what it was done to: a user, a key, a passkey or a session.
	TargetID   string
	TargetName string
	// UserID is whose account it is, "" if that is not known.
	UserID string
	Detail string
	// RequestID is that of the request, "" without one.
	RequestID string
}

// TableName implements gorm's Tabler.
func (Event) TableName() string { return "account_events" }

const (
	eventsFor  = 400 * 24 * time.Hour
	purgeSlice = 2000
	maxDetail  = 200
	// DefaultPage is how many events a page has that asks for no number.
	DefaultPage = 50
	// MaxPage is the longest page.
	MaxPage = 200
)

// recordEvent writes an event into the running transaction.
func (j *Journal) recordEvent(ctx context.Context, e Event) error {
	a := actingUser(ctx)
	if e.ID == "" {
		e.ID = store.NewID("evt")
	}
	e.At = j.cfg.Now().UnixMilli()
	e.ActorID, e.ActorName, e.Address = a.ID, texts.Limit(a.Name, maxEmail), texts.Limit(a.Address, maxDetail)
	if e.Via == "" {
		e.Via = a.Via
	}
	if e.Result == "" {
		e.Result = ResultOK
	}
	e.TargetName, e.Detail = texts.Limit(e.TargetName, maxEmail), texts.Limit(e.Detail, maxDetail)
	return wrapStoreError("write the audit of accounts", j.cfg.Store.Writer(ctx).Create(&e).Error)
}

// recordRefusal records an attempt that was refused because of err. A failure to record it is only logged.
func (j *Journal) recordRefusal(ctx context.Context, e Event, err error) {
	f := fault.As(err)
	if f.Code == fault.Internal || ctx.Err() != nil {
		return
	}
	e.Result, e.Detail = ResultRefused, string(f.Code)
	if failed := j.cfg.Store.Tx(ctx, "note refusal", func(ctx context.Context) error { return j.recordEvent(ctx, e) }); failed != nil {
		j.cfg.Logger.Warn("cannot record a failed sign-in", "error", failed)
	}
}

// EventFilter chooses events; what is empty chooses all.
type EventFilter struct {
	// UserID is whose account it is about, Actor the id or the name of who acted, Object the id or the name of what it was done to.
	UserID, Actor, Action, Object, Result string
	// From and Until bound the time, in Unix milliseconds, From included; 0 for no bound.
	From, Until int64
	// Cursor is where the page begins, Limit how long it is: 0 means DefaultPage, at most MaxPage.
	Cursor string
	Limit  int
}

// eventCursor is the last event of a page.
type eventCursor struct {
	ID string `json:"id"`
}

// Events are those that a filter chooses, the newest first, and where the next page begins, "" on the last.
func (j *Journal) Events(ctx context.Context, f EventFilter) (out []Event, next string, err error) {
	if f.Limit <= 0 {
		f.Limit = DefaultPage
	}
	f.Limit = min(f.Limit, MaxPage)
	q := j.cfg.Store.DB(ctx).Order("id DESC").Limit(f.Limit + 1)
	for _, c := range []struct{ column, value string }{
		{"user_id", f.UserID}, {"action", f.Action}, {"result", f.Result},
	} {
		if c.value != "" {
			q = q.Where(c.column+" = ?", c.value)
		}
	}
	if f.Actor != "" {
		q = q.Where("(actor_id = ? OR actor_name = ?)", f.Actor, f.Actor)
	}
	if f.Object != "" {
		// A request about several things has their ids with spaces between.
		within := "% " + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(f.Object) + " %"
		q = q.Where("(target_name = ? OR ' ' || target_id || ' ' LIKE ? ESCAPE '!')", f.Object, within)
	}
	if f.From > 0 {
		q = q.Where("at >= ?", f.From)
	}
	if f.Until > 0 {
		q = q.Where("at < ?", f.Until)
	}
	if f.Cursor != "" {
		var c eventCursor
		if err := store.DecodeCursor(f.Cursor, &c); err != nil {
			return nil, "", err
		}
		q = q.Where("id < ?", c.ID)
	}
	if out, err = scanEvents(q); err != nil {
		return nil, "", wrapStoreError("list the audit of accounts", err)
	}
	if len(out) > f.Limit {
		out = out[:f.Limit]
		next, err = store.EncodeCursor(eventCursor{out[f.Limit-1].ID})
	}
	return out, next, err
}

// eventColumns are the columns of an event, in the order in which scanEvents reads them.
const eventColumns = "id,at,action,result,actor_id,actor_name,via,address,target_id,target_name,user_id,detail,request_id"

// scanEvents returns the events that a statement selects. gorm's reflection would take half of the time of the query.
func scanEvents(q *gorm.DB) (out []Event, err error) {
	rows, err := q.Model(&Event{}).Select(eventColumns).Rows()
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	out = []Event{}
	var e Event
	targets := []any{
		&e.ID, &e.At, &e.Action, &e.Result, &e.ActorID, &e.ActorName, &e.Via, &e.Address, &e.TargetID, &e.TargetName, &e.UserID, &e.Detail,
		&e.RequestID,
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, rows.Err()
}

func (j *Journal) purgeEvents(ctx context.Context, before time.Time) (more bool, err error) {
	err = j.cfg.Store.Tx(ctx, "delete old events", func(ctx context.Context) error {
		w := j.cfg.Store.Writer(ctx)
		old := w.Session(&gorm.Session{NewDB: true}).Model(&Event{}).Select("id").Where("at < ?", before.UnixMilli()).Limit(purgeSlice)
		done := w.Where("id IN (?)", old).Delete(&Event{})
		more = done.RowsAffected == purgeSlice
		return done.Error
	})
	return more && err == nil, err
}
