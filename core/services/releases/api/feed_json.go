package api

import (
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/services/releases/translation"
)

// feedBuffers are used again for pages of the feed.
var feedBuffers = sync.Pool{New: func() any { b := make([]byte, 0, 64<<10); return &b }}

// Parts of an item that do not change. Reflection would take longer over a page than the database.
const (
	noCounts = `{"plus1":0,"laugh":0,"heart":0,"hooray":0,"rocket":0,"eyes":0}`
	noViewer = `{"plus1":false,"laugh":false,"heart":false,"hooray":false,"rocket":false,"eyes":false}`
)

// appendFeedPage appends a FeedPage as JSON. none stands for a translation that there is not.
func appendFeedPage(b []byte, page feed.Page, translated map[int64]translation.Translated, none *translation.TranslatedItem) []byte {
	absent := appendTranslated(nil, none)
	b = append(b, `{"items":[`...)
	for i := range page.Items {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendFeedItem(b, &page.Items[i], translated[page.Items[i].Seq], absent)
	}
	b = append(b, `],"next_cursor":`...)
	b = appendOptional(b, page.Next)
	return append(b, '}')
}

// appendFeedItem appends a FeedItem as JSON. absent is the JSON of a translation that there is not.
func appendFeedItem(b []byte, i *feed.Item, t translation.Translated, absent []byte) []byte {
	b = append(b, `{"kind":"`...)
	b = append(b, i.Kind...)
	b = append(b, `","ts":"`...)
	b = time.UnixMilli(i.TS).UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z07:00")
	b = append(b, `","id":"`...)
	b = append(b, i.ID()...)
	b = append(b, `","repo_full_name":`...)
	b = appendOptional(b, i.RepoFullName)
	b = append(b, `,"repo_visual":`...)
	b = appendVisual(b, i)
	b = append(b, `,"title":`...)
	b = appendOptional(b, i.ShownTitle())
	b = append(b, `,"body":`...)
	b = appendOptional(b, i.Body)
	b = append(b, `,"body_truncated":`...)
	b = strconv.AppendBool(b, i.BodyTruncated)
	subtitle, subject := findSubject(i.Kind)
	b = append(b, `,"subtitle":`...)
	b = appendOptional(b, subtitle)
	b = append(b, `,"reason":null,"subject_type":`...)
	b = appendOptional(b, subject)
	b = append(b, `,"html_url":`...)
	b = appendOptional(b, i.HTMLURL)
	b = append(b, `,"unread":null`...)
	if i.Kind != feed.Release {
		b = append(b, `,"actor":{"login":`...)
		b = appendText(b, i.ActorName())
		b = append(b, `,"avatar_url":`...)
		b = appendOptional(b, i.ActorAvatar)
		b = append(b, `,"html_url":`...)
		b = appendOptional(b, i.ActorURL)
		return append(b, `},"translated":null,"smart":null,"reactions":null}`...)
	}
	b = append(b, `,"translated":`...)
	b = appendTranslatedOr(b, t.Text, absent)
	b = append(b, `,"smart":`...)
	b = appendTranslatedOr(b, t.Smart, absent)
	b = append(b, `,"reactions":{"counts":`...)
	if i.Reactions == "" {
		b = append(b, noCounts...)
	} else {
		b = append(b, i.Reactions...)
	}
	b = append(b, `,"viewer":`...)
	b = append(b, noViewer...)
	if i.NodeID == "" {
		return append(b, `,"status":"sync_required"}}`...)
	}
	return append(b, `,"status":"ready"}}`...)
}

// appendTranslatedOr appends a TranslatedItem, or absent for nil.
func appendTranslatedOr(b []byte, t *translation.TranslatedItem, absent []byte) []byte {
	if t == nil {
		return append(b, absent...)
	}
	return appendTranslated(b, t)
}

// appendTranslated appends a TranslatedItem.
func appendTranslated(b []byte, t *translation.TranslatedItem) []byte {
	b = append(b, `{"lang":`...)
	b = appendText(b, t.Lang)
	b = append(b, `,"status":"`...)
	b = append(b, t.Status...)
	b = append(b, '"')
	for _, member := range []struct {
		name  string
		value *string
	}{
		{`,"title":`, t.Title}, {`,"summary":`, t.Summary}, {`,"error_code":`, t.ErrorCode}, {`,"error_summary":`, t.ErrorSummary},
		{`,"error_detail":`, t.ErrorDetail},
	} {
		b = append(b, member.name...)
		if member.value == nil {
			b = append(b, "null"...)
		} else {
			b = appendText(b, *member.value)
		}
	}
	b = append(b, `,"auto_translate":`...)
	if t.AutoTranslate == nil {
		return append(b, "null}"...)
	}
	return append(strconv.AppendBool(b, *t.AutoTranslate), '}')
}

// appendVisual appends a RepoVisual, or null for a repository without images.
func appendVisual(b []byte, i *feed.Item) []byte {
	if i.AvatarURL == "" && i.ImageURL == "" && !i.CustomImage {
		return append(b, "null"...)
	}
	b = append(b, `{"owner_avatar_url":`...)
	b = appendOptional(b, i.AvatarURL)
	b = append(b, `,"open_graph_image_url":`...)
	b = appendOptional(b, i.ImageURL)
	b = append(b, `,"uses_custom_open_graph_image":`...)
	return append(strconv.AppendBool(b, i.CustomImage), '}')
}

// findSubject returns the subtitle and the subject type of a kind.
func findSubject(k feed.Kind) (subtitle, subject string) {
	switch k {
	case feed.Announcement:
		return "仓库公告", "discussion"
	case feed.ReleaseUpdate:
		return "Release", "release"
	case feed.RepoForked:
		return "Fork", "repository"
	}
	return "", ""
}

// appendOptional appends a text, null for an empty one.
func appendOptional(b []byte, s string) []byte {
	if s == "" {
		return append(b, "null"...)
	}
	return appendText(b, s)
}

const hexDigits = "0123456789abcdef"

// plainBytes reports for each byte whether a JSON text has it unescaped.
var plainBytes = func() (plain [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

// appendText appends a text in quotation marks.
func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plainBytes[c] {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				b = append(append(b, s[from:i]...), "\ufffd"...)
				from = i + n
			}
			i += n
			continue
		}
		b = append(b, s[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		from = i
	}
	return append(append(b, s[from:]...), '"')
}
