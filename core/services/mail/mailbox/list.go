package mailbox

import (
	"context"
	"slices"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Filter chooses mailboxes.
type Filter struct {
	// Statuses are those that may be; none means all but Destroyed.
	Statuses []Status
	// Tags must all be there, and none of NotTags; normalised.
	Tags, NotTags []string
	// Addresses and IDs narrow the choice; none means no bound.
	Addresses, IDs []string
	// Text must be part of the address.
	Text string
}

// Workspace are the states of mailboxes that are worked with.
func Workspace() []Status { return []Status{Active, Destroying} }

// maxPage is the longest page of a list.
const maxPage = 200

// pageKey is the place of a mailbox in the list.
type pageKey struct {
	At int64  `json:"t"`
	ID string `json:"i"`
}

// NamesMailboxes reports whether the filter chooses mailboxes by id, address or tag, and so few of them.
func (f Filter) NamesMailboxes() bool { return len(f.IDs)+len(f.Addresses)+len(f.Tags) > 0 }

// HasMailbox reports whether there is a mailbox that the caller may see and that fits the filter.
func (m *Mailboxes) HasMailbox(ctx context.Context, caller Caller, f Filter) (bool, error) {
	return m.hasVisible(ctx, caller, f, m.cfg.Now())
}

// List returns a page of the mailboxes that the caller may see, the newest first, and the cursor of the next page, "" on the
// last. limit is from 1 to 200.
func (m *Mailboxes) List(ctx context.Context, caller Caller, f Filter, limit int, cursor string) (page []Mailbox, next string, err error) {
	if err := checkFilter(&f); err != nil {
		return nil, "", err
	}
	limit = min(max(limit, 1), maxPage)
	var after *pageKey
	if cursor != "" {
		after = new(pageKey)
		if err := store.DecodeCursor(cursor, after); err != nil {
			return nil, "", err
		}
	}
	if page, err = m.listPage(ctx, caller, f, after, limit+1, m.cfg.Now()); err != nil {
		return nil, "", err
	}
	if len(page) > limit {
		page = page[:limit]
		last := page[limit-1]
		if next, err = store.EncodeCursor(pageKey{last.CreatedAt, last.ID}); err != nil {
			return nil, "", err
		}
	}
	return page, next, m.loadTags(ctx, page)
}

// checkFilter normalises the tags of a filter and refuses states that there are not.
func checkFilter(f *Filter) (err error) {
	for _, s := range f.Statuses {
		if !slices.Contains([]Status{Active, Expired, Destroying, Destroyed}, s) {
			return fault.New(fault.InvalidArgument, "status must be active, expired, destroying or destroyed.").With("field", "status")
		}
	}
	if f.Tags, err = NormaliseTags(f.Tags); err != nil {
		return fault.As(err).With("field", "tag")
	}
	return nil
}

// Get returns a mailbox in any state. It fails for one of somebody else, unless the caller is an administrator.
func (m *Mailboxes) Get(ctx context.Context, caller Caller, id string) (Mailbox, error) {
	box, err := m.FindMailbox(ctx, id)
	if err != nil {
		return Mailbox{}, err
	}
	if !caller.sees(box) {
		return Mailbox{}, errNoMailbox
	}
	return box, nil
}

// CountByStatus returns how many mailboxes are in a state.
func (m *Mailboxes) CountByStatus(ctx context.Context, status Status) (int64, error) {
	return m.countStatus(ctx, status, m.cfg.Now())
}
