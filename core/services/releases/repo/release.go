package repo

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

const (
	// maxBody is how many characters of a text lists show.
	maxBody = 3000
	// maxFullBody is the longest text that is kept, in bytes.
	maxFullBody = 1 << 20
	maxTitle    = 500
	maxURL      = 2000
)

// ReactionNames are the reactions that are counted, in the order of answers.
var ReactionNames = []string{"plus1", "laugh", "heart", "hooray", "rocket", "eyes"}

// CutBody returns a text for lists: with single line ends, without space around it, and cut. It reports whether it was cut.
func CutBody(text string) (body, full string, truncated bool) {
	full = strings.TrimSpace(strings.ReplaceAll(texts.Limit(text, maxFullBody), "\r\n", "\n"))
	n := 0
	for i := range full {
		if n == maxBody {
			return full[:i], full, true
		}
		n++
	}
	return full, full, false
}

// NewRelease returns a release of a code host as it is stored. found is when it was read.
func NewRelease(in codehost.Release, found time.Time) Release {
	out := Release{
		RemoteID: texts.Limit(in.ID, maxURL), NodeID: texts.Limit(in.NodeID, maxURL), Tag: texts.OneLine(in.TagName, maxTitle),
		Title:   texts.OneLine(in.Name, maxTitle),
		HTMLURL: texts.Limit(in.HTMLURL, maxURL), PublishedAt: store.Millis(in.PublishedAt), Prerelease: in.Prerelease,
		Level: LevelOf(in.TagName),
	}
	if out.Title == "" {
		out.Title = out.Tag
	}
	if out.RemoteID == "" {
		out.RemoteID = "tag:" + out.Tag
	}
	out.Body, out.FullBody, out.BodyTruncated = CutBody(in.Body)
	out.TS = out.PublishedAt
	if out.TS <= 0 {
		out.TS = store.Millis(in.CreatedAt)
	}
	// hasOwnTime is false for a release whose time is that at which it was first found, which does not change later.
	hasOwnTime := out.TS > 0
	own := out.TS
	if !hasOwnTime || own > store.Millis(found) {
		// One with a date in the future stands where it was found, too.
		out.TS = store.Millis(found)
	}
	out.EntryURL = out.HTMLURL
	out.SearchText = strings.ToLower(out.Title + "\n" + out.Tag)
	out.Reactions = encodeReactions(in.Reactions)
	stamp := ""
	if hasOwnTime {
		stamp = strconv.FormatInt(own, 10)
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{out.Tag, out.Title, out.FullBody, out.HTMLURL, out.NodeID, stamp,
		strconv.FormatBool(out.Prerelease)}, "\x00")))
	out.Hash = hex.EncodeToString(sum[:16])
	return out
}

// encodeReactions returns the counts of ReactionNames as a JSON object, "" if there are none.
func encodeReactions(counts map[string]int64) string {
	total := int64(0)
	kept := struct {
		Plus1  int64 `json:"plus1"`
		Laugh  int64 `json:"laugh"`
		Heart  int64 `json:"heart"`
		Hooray int64 `json:"hooray"`
		Rocket int64 `json:"rocket"`
		Eyes   int64 `json:"eyes"`
	}{}
	for i, n := range []*int64{&kept.Plus1, &kept.Laugh, &kept.Heart, &kept.Hooray, &kept.Rocket, &kept.Eyes} {
		*n = max(0, counts[ReactionNames[i]])
		total += *n
	}
	if total == 0 {
		return ""
	}
	// Numbers can always be encoded.
	raw, _ := json.Marshal(kept)
	return string(raw)
}

// cutText returns at most n bytes of a text in one line.
func cutText(s string, n int) string {
	if !utf8.ValidString(s) || len(s) > n || strings.ContainsAny(s, "\r\n\x00") {
		return texts.OneLine(s, n)
	}
	return s
}

// ParseReleaseID reads the id of a release.
func ParseReleaseID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, fault.New(fault.BadRequest, "release_id must be a whole number as a string.").With("field", "release_id")
	}
	return id, nil
}
