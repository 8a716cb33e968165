package reading

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/releases/brief"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
	"github.com/patchbay-dev/patchbay/core/services/releases/sync"
)

// The lists whose changes are told, in the order of the token.
const (
	listFeed          = "feed"
	listBriefs        = "briefs"
	listNotifications = "notifications"
)

var updateLists = []string{listFeed, listBriefs, listNotifications}

const (
	// markedItems and markedRows are how many items of the feed, and rows of the other lists, are compared.
	markedItems, markedRows = 30, 50
	tokenVersion            = 1
	// markVersion is part of the hash of a query, so that a token with digests of another kind tells of no change.
	markVersion = 2
	digestSize  = 6
)

// UpdatesAnswer tells which lists have changed.
type UpdatesAnswer struct {
	Token       string                `json:"token" doc:"For the next call. It belongs to the parameters of this one."`
	GeneratedAt api.Time              `json:"generated_at"`
	Lists       map[string]ListChange `json:"lists" doc:"By feed, briefs and notifications, as far as they were asked for."`
}

// ListChange is what has changed in a list since an updates token.
type ListChange struct {
	Changed    bool     `json:"changed" doc:"Whether something is new or different since the token was given out."`
	NewCount   int      `json:"new_count"`
	LatestKeys []string `json:"latest_keys" nullable:"false" doc:"What is new or different, such as release:42."`
}

// updatesToken is what a client has seen: the digests of each list, and the hash of the query.
type updatesToken struct {
	query uint64
	lists [3]map[[digestSize]byte]bool
	// end is the time of the last item of the feed that was compared; 0 if the feed had no further ones. It is in Unix milliseconds.
	end int64
}

// parseInclude reads which lists are asked for.
func parseInclude(text string) ([]string, error) {
	var include []string
	for word := range strings.SplitSeq(text, ",") {
		word = strings.ToLower(strings.TrimSpace(word))
		switch word {
		case "":
			continue
		case "inbox":
			word = listNotifications
		case listFeed, listBriefs, listNotifications:
		default:
			return nil, fault.New(fault.BadRequest, "include must be feed, briefs, notifications or inbox.").With("field", "include")
		}
		if !slices.Contains(include, word) {
			include = append(include, word)
		}
	}
	if include == nil {
		return updateLists, nil
	}
	return include, nil
}

// queryHash identifies the parameters to which a token belongs.
func queryHash(choice feed.Choice, include []string, userID string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte{markVersion})
	for _, list := range updateLists {
		_, _ = h.Write([]byte(strconv.FormatBool(slices.Contains(include, list))))
	}
	for _, part := range []string{userID, choice.Types, choice.Scope, choice.Items, choice.Org} {
		_, _ = h.Write([]byte(strings.ToLower(strings.TrimSpace(part)) + "\x00"))
	}
	return h.Sum64()
}

// FindUpdates compares lists with what a client has seen, by the token of the answer before. include names the lists.
func (rd *Reading) FindUpdates(ctx context.Context, choice feed.Choice, include, token string) (out UpdatesAnswer, err error) {
	q, err := rd.cfg.Readers.FeedQuery(ctx, reader.ID(ctx), choice, "feed_type")
	if err != nil {
		return out, err
	}
	q.Limit = markedItems
	lists, err := parseInclude(include)
	if err != nil {
		return out, err
	}
	former, err := parseUpdatesToken(token)
	if err != nil {
		return out, err
	}
	return rd.findUpdates(ctx, q, lists, former, queryHash(choice, lists, q.UserID))
}

// findUpdates compares lists with what a client has seen. query is the hash of the parameters.
func (rd *Reading) findUpdates(ctx context.Context, q feed.Query, include []string, former *updatesToken,
	query uint64) (out UpdatesAnswer, err error) {
	out = UpdatesAnswer{GeneratedAt: api.TimeOf(rd.cfg.Now()), Lists: map[string]ListChange{}}
	marks, err := rd.readMarks(ctx, q, include)
	if err != nil {
		return out, err
	}
	token := newTokenWriter(query)
	for i, list := range updateLists {
		if slices.Contains(include, list) {
			change := ListChange{LatestKeys: []string{}}
			if former != nil && former.query == query {
				for _, m := range marks[list] {
					// What stood behind the end moves up when something is deleted, and is not new.
					if !former.lists[i][m.Digest] && (list != listFeed || m.At >= former.end) {
						change.LatestKeys = append(change.LatestKeys, m.Key)
					}
				}
			}
			change.NewCount, change.Changed = len(change.LatestKeys), len(change.LatestKeys) > 0
			out.Lists[list] = change
		}
		token.addList(marks[list])
	}
	token.addEnd(marks[listFeed])
	out.Token = token.encode()
	return out, nil
}

// readMarks returns the marks of the first rows of lists, by the lists.
func (rd *Reading) readMarks(ctx context.Context, q feed.Query, include []string) (map[string][]feed.Mark, error) {
	queries := make([]feed.MarkQuery, len(include))
	for i, list := range include {
		var err error
		switch list {
		case listFeed:
			queries[i], err = rd.cfg.Feed.MarkQuery(ctx, q)
		case listBriefs:
			queries[i] = brief.MarkQuery(q.UserID, markedRows)
		case listNotifications:
			queries[i] = sync.NotificationMarkQuery(q.UserID, markedRows)
		}
		if err != nil {
			return nil, err
		}
	}
	read, err := feed.ReadMarks(ctx, rd.cfg.Store, queries...)
	marks := make(map[string][]feed.Mark, len(read))
	for i := range read {
		marks[include[i]] = read[i]
	}
	if err == nil {
		err = rd.markTranslations(ctx, marks[listFeed])
	}
	return marks, err
}

// markTranslations has the marks of releases differ by what has come of their translations.
func (rd *Reading) markTranslations(ctx context.Context, marks []feed.Mark) error {
	if !rd.cfg.Translator.Enabled() {
		return nil
	}
	places := map[int64]int{}
	var ids []int64
	for i := range marks {
		if id := marks[i].ReleaseID(); id > 0 {
			places[id] = i
			ids = append(ids, id)
		}
	}
	ended, err := rd.cfg.Translations.EndedOf(ctx, reader.DefaultLanguage, ids)
	for _, e := range ended {
		marks[places[e.ReleaseID]].Extend(e.Kind, string(e.Outcome), strconv.FormatInt(e.UpdatedAt, 36))
	}
	return err
}

// tokenWriter writes a token: a version, the hash of the query, and for each list how many digests it has, and these; then the end of the
// feed.
type tokenWriter struct{ raw []byte }

func newTokenWriter(query uint64) *tokenWriter {
	raw := make([]byte, 1, 1024)
	raw[0] = tokenVersion
	for shift := 56; shift >= 0; shift -= 8 {
		raw = append(raw, byte(query>>shift))
	}
	return &tokenWriter{raw}
}

func (w *tokenWriter) addList(marks []feed.Mark) {
	w.raw = append(w.raw, byte(len(marks)))
	for _, m := range marks {
		w.raw = append(w.raw, m.Digest[:]...)
	}
}

// addEnd adds the time of the last item of the feed, if there may be others behind it. Tokens without it were given out by former versions.
func (w *tokenWriter) addEnd(marks []feed.Mark) {
	var end int64
	if len(marks) == markedItems {
		end = marks[len(marks)-1].At
	}
	w.raw = binary.BigEndian.AppendUint64(w.raw, uint64(max(end, 0)))
}

func (w *tokenWriter) encode() string { return base64.RawURLEncoding.EncodeToString(w.raw) }

// maxUpdatesToken is the longest token that is looked at.
const maxUpdatesToken = 4096

// parseUpdatesToken reads a token; nil for an empty text.
func parseUpdatesToken(text string) (*updatesToken, error) {
	if text == "" {
		return nil, nil
	}
	bad := fault.New(fault.BadRequest, "The token is not valid for this endpoint.").With("field", "token")
	if len(text) > maxUpdatesToken {
		return nil, bad
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) < 9 || raw[0] != tokenVersion {
		return nil, bad
	}
	t := &updatesToken{}
	for _, b := range raw[1:9] {
		t.query = t.query<<8 | uint64(b)
	}
	raw = raw[9:]
	for i := range t.lists {
		if len(raw) == 0 || len(raw) < 1+int(raw[0])*digestSize {
			return nil, bad
		}
		n := int(raw[0])
		raw = raw[1:]
		t.lists[i] = make(map[[digestSize]byte]bool, n)
		for ; n > 0; n-- {
			t.lists[i][[digestSize]byte(raw[:digestSize])] = true
			raw = raw[digestSize:]
		}
	}
	switch len(raw) {
	case 0:
	case 8:
		t.end = int64(min(binary.BigEndian.Uint64(raw), math.MaxInt64))
	default:
		return nil, bad
	}
	return t, nil
}
