package reading

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/services/releases/brief"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
)

// previewLength is how many characters of a brief lists show.
const previewLength = 600

// BriefHead is what all answers have of a brief.
type BriefHead struct {
	ID           string   `json:"id" example:"brf_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	Date         string   `json:"date" example:"2026-03-29"`
	WindowStart  api.Time `json:"window_start"`
	WindowEnd    api.Time `json:"window_end"`
	TimeZone     string   `json:"effective_time_zone" example:"Europe/Berlin"`
	Boundary     string   `json:"effective_local_boundary" doc:"The time of day at which the window ends." example:"08:00"`
	ReleaseCount int      `json:"release_count" doc:"Also those that are not listed, beyond 300."`
	ReleaseIDs   []string `json:"release_ids" nullable:"false"`
}

// BriefSummary is a brief in lists.
type BriefSummary struct {
	BriefHead
	Preview         string   `json:"preview_markdown" doc:"The first 600 characters."`
	CoversStars     bool     `json:"covers_repo_stars"`
	CoversFollowers bool     `json:"covers_followers"`
	CreatedAt       api.Time `json:"created_at"`
	UpdatedAt       api.Time `json:"updated_at"`
}

// BriefDetail is a brief with its text.
type BriefDetail struct {
	BriefSummary
	Content string `json:"content_markdown"`
}

// BriefContent is a brief that was written.
type BriefContent struct {
	BriefHead
	Content string `json:"content_markdown"`
}

func newBriefHead(b brief.Brief) BriefHead {
	return BriefHead{b.ID, b.Date, api.TimeOfMillis(b.WindowStart), api.TimeOfMillis(b.WindowEnd), b.TimeZone, b.Boundary, b.Count(),
		b.Releases()}
}

func newBriefSummary(b brief.Brief) BriefSummary {
	return BriefSummary{newBriefHead(b), firstCharacters(b.Content, previewLength), b.CoversStars, b.CoversFollowers,
		api.TimeOfMillis(b.CreatedAt), api.TimeOfMillis(b.UpdatedAt)}
}

// BriefContentOf returns a brief as it is told of when it was written.
func BriefContentOf(b brief.Brief) BriefContent { return BriefContent{newBriefHead(b), b.Content} }

// firstCharacters returns the first n characters of a text.
func firstCharacters(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// Briefs returns the caller's briefs, the latest first.
func (rd *Reading) Briefs(ctx context.Context) ([]BriefSummary, error) {
	found, err := rd.cfg.Briefs.List(ctx, reader.ID(ctx))
	return lists.ConvertAll(found, newBriefSummary), err
}

// Brief returns a brief of the caller.
func (rd *Reading) Brief(ctx context.Context, id string) (BriefDetail, error) {
	b, err := rd.cfg.Briefs.Find(ctx, reader.ID(ctx), id)
	if err != nil {
		return BriefDetail{}, err
	}
	return BriefDetail{newBriefSummary(b), b.Content}, nil
}
