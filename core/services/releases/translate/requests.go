package translate

import (
	"context"
	"encoding/json"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Request is a request of a user for a translation, as it is stored.
type Request struct {
	ID     string `gorm:"primaryKey"`
	UserID string
	// ProducerRef and Variant are the caller's own words. Kind and EntityID say what is translated.
	ProducerRef, Kind, Variant, EntityID string
	Language                             string
	// Slots are the texts that are wanted, as a JSON array.
	Slots string
	// WorkID is "" for a request that came to nothing; Outcome and ErrorCode say why.
	WorkID    string
	Outcome   Outcome
	ErrorCode string
	CreatedAt int64 `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's Tabler.
func (Request) TableName() string { return "release_translation_requests" }

// SetSlots sets the texts that are wanted.
func (r *Request) SetSlots(slots []string) {
	// Texts can always be encoded.
	raw, _ := json.Marshal(slots)
	r.Slots = string(raw)
}

// Wants reports whether a text is wanted.
func (r *Request) Wants(slot string) bool {
	var slots []string
	// Only SetSlots writes the column.
	_ = json.Unmarshal([]byte(r.Slots), &slots)
	for _, s := range slots {
		if s == slot {
			return true
		}
	}
	return false
}

// Asked is a request with what it is for.
type Asked struct {
	Request
	// Demand is nil for something that does not exist, or that the user does not see.
	Demand *Demand
	// Release is the release that is translated, or nil.
	Release *ReleaseText
}

// ReleaseText says which text of a release a work is: of its content with a hash.
type ReleaseText struct {
	ReleaseID int64
	Kind      string
	Hash      string
}

// Ask stores requests and returns them with their works. That of a request that came to nothing has no id.
func (t *Translations) Ask(ctx context.Context, asked []Asked) (requests []Request, works []Work, err error) {
	err = t.store.Tx(ctx, "ask for translations", func(ctx context.Context) error {
		requests = make([]Request, len(asked))
		if works, err = t.works(ctx, asked); err != nil {
			return err
		}
		for i, a := range asked {
			r := a.Request
			r.ID, r.WorkID, r.CreatedAt = t.ids.New("tr"), works[i].ID, store.Millis(t.cfg.Now())
			if r.WorkID == "" {
				r.Outcome, r.ErrorCode = works[i].Outcome, works[i].ErrorCode
			}
			requests[i] = r
		}
		return t.store.Writer(ctx).Create(&requests).Error
	})
	return requests, works, err
}

// Works returns the works that are asked for, without storing requests.
func (t *Translations) Works(ctx context.Context, asked []Asked) (works []Work, err error) {
	err = t.store.Tx(ctx, "ask for translations", func(ctx context.Context) error {
		works, err = t.works(ctx, asked)
		return err
	})
	return works, err
}

func (t *Translations) works(ctx context.Context, asked []Asked) ([]Work, error) {
	works := make([]Work, len(asked))
	var demands []Demand
	var places []int
	for i, a := range asked {
		if a.Demand == nil {
			works[i] = Work{State: Failed, Outcome: Missing}
			continue
		}
		demands, places = append(demands, *a.Demand), append(places, i)
	}
	found, err := t.Demand(ctx, demands)
	if err != nil {
		return nil, err
	}
	for k, w := range found {
		a := asked[places[k]]
		works[places[k]] = w
		if a.Release == nil || w.ID == "" {
			continue
		}
		if err := t.linkRelease(ctx, *a.Release, w); err != nil {
			return nil, err
		}
	}
	return works, nil
}

// linkRelease notes which work is the translation of a release.
func (t *Translations) linkRelease(ctx context.Context, r ReleaseText, w Work) error {
	return t.store.Writer(ctx).Exec("INSERT INTO release_translated (release_id, language, kind, hash, work_id) VALUES (?, ?, ?, ?, ?) "+
		"ON CONFLICT (release_id, language, kind) DO UPDATE SET hash = excluded.hash, work_id = excluded.work_id", r.ReleaseID, w.Language,
		r.Kind, r.Hash, w.ID).Error
}

// errNoRequest is for a request that does not exist, or is another user's.
var errNoRequest = fault.New(fault.NotFound, "There is no such request.")

// FindRequest returns a request of a user, with its work.
func (t *Translations) FindRequest(ctx context.Context, userID, id string) (r Request, w Work, err error) {
	var rows []Request
	if err = t.store.DB(ctx).Where("id = ? AND user_id = ?", id, userID).Find(&rows).Error; err != nil {
		return r, w, err
	}
	if len(rows) == 0 {
		return r, w, errNoRequest
	}
	r = rows[0]
	if r.WorkID == "" {
		return r, r.endedWork(), nil
	}
	works, err := t.List(ctx, []string{r.WorkID})
	if err != nil || len(works) == 0 {
		return r, Work{State: Failed, Outcome: Missing}, err
	}
	return r, works[0], nil
}

// endedWork returns what stands for the work of a request that came to nothing.
func (r *Request) endedWork() Work {
	w := Work{State: Completed, Outcome: r.Outcome, ErrorCode: r.ErrorCode}
	if r.Outcome == Missing {
		w.State = Failed
	}
	return w
}

// ReleaseWork is the translation of a release.
type ReleaseWork struct {
	Work `gorm:"embedded"`
	Of   int64
	Kind string
}

var workColumns = store.Columns(Work{}, "w")

// OfReleases returns the translations of releases into a language whose content has not changed since.
func (t *Translations) OfReleases(ctx context.Context, language string, ids []int64) (found []ReleaseWork, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	err = t.store.DB(ctx).Raw("SELECT "+workColumns+", l.release_id AS of, l.kind AS kind FROM release_translated l JOIN release_entries e ON e.id = l.release_id AND e.hash = l.hash "+
		"JOIN release_translations w ON w.id = l.work_id WHERE l.language = ? AND l.release_id IN ?", language, ids).Scan(&found).Error
	return found, err
}

// Ended is what came of the translation of a release, and when, in Unix milliseconds.
type Ended struct {
	ReleaseID int64
	Kind      string
	Outcome   Outcome
	UpdatedAt int64
}

// EndedOf returns what came of the translations of releases into a language, as far as they have ended, in the order of releases and
// kinds.
func (t *Translations) EndedOf(ctx context.Context, language string, ids []int64) (ended []Ended, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	err = t.store.DB(ctx).Raw("SELECT l.release_id, l.kind, w.outcome, w.updated_at FROM release_translated l JOIN release_entries e ON e.id = l.release_id AND e.hash = l.hash "+
		"JOIN release_translations w ON w.id = l.work_id WHERE l.language = ? AND l.release_id IN ? AND w.state IN ? ORDER BY l.release_id, l.kind", language, ids, []State{Completed, Failed}).Scan(&ended).Error
	return ended, err
}

// How long things are kept that nobody asks for any more.
const (
	keepRequests = 7 * 24 * time.Hour
	keepCalls    = 32 * 24 * time.Hour
	keepWorks    = 180 * 24 * time.Hour
)

// DeleteOld deletes requests, calls, batches and works that are older than they are kept.
func (t *Translations) DeleteOld(ctx context.Context) error {
	now := t.cfg.Now()
	before := func(d time.Duration) int64 { return store.Millis(now.Add(-d)) }
	return t.store.Tx(ctx, "delete old translations", func(ctx context.Context) error {
		for _, do := range []struct {
			sql    string
			before int64
		}{
			{"DELETE FROM release_translation_requests WHERE created_at < ?", before(keepRequests)},
			{"DELETE FROM release_translation_batches WHERE created_at < ?", before(keepCalls)},
			{"DELETE FROM release_model_calls WHERE at < ?", before(keepCalls)},
			{"DELETE FROM release_translated WHERE work_id IN (SELECT id FROM release_translations WHERE updated_at < ?)", before(keepWorks)},
			{"DELETE FROM release_translations WHERE updated_at < ? AND state IN ('completed', 'failed')", before(keepWorks)},
		} {
			if err := t.store.Writer(ctx).Exec(do.sql, do.before).Error; err != nil {
				return err
			}
		}
		return nil
	})
}
