package follow

import (
	"context"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/services/releases/repolist"
)

const (
	// maxProblems is how many problems of an import are told.
	maxProblems = 200
	// maxSites is how many sites the addresses of an import may have.
	maxSites = 20
)

// ImportProblem is an entry of an import that was not followed.
type ImportProblem struct {
	Line    int    `json:"line" doc:"From 1 on."`
	Text    string `json:"text"`
	Message string `json:"message"`
}

// ImportResult tells what an import has done.
type ImportResult struct {
	Format       string          `json:"format" enum:"list,opml,go.mod,package.json"`
	Followed     []string        `json:"followed" nullable:"false" doc:"What is followed from now on."`
	Known        int             `json:"known" doc:"How many others the caller saw already."`
	Problems     []ImportProblem `json:"problems" nullable:"false" doc:"The first 200 entries that name no repository of the code host."`
	ProblemCount int             `json:"problem_count"`
}

// ImportRepos has the caller follow the repositories that a text names. format is "" to find it by the text.
func (fl *Following) ImportRepos(ctx context.Context, format, content string) (out ImportResult, err error) {
	userID, err := reader.OwnerID(ctx)
	if err != nil {
		return out, err
	}
	parsed, err := repolist.Parse(repolist.Format(format), content)
	if err != nil {
		return out, err
	}
	entries, problems, err := fl.checkSites(ctx, userID, parsed)
	if err != nil {
		return out, err
	}
	out = ImportResult{Format: string(parsed.Format), Followed: []string{}, Problems: []ImportProblem{}}
	host, err := fl.cfg.Syncer.MainHost()
	if err != nil {
		return out, err
	}
	err = fl.cfg.Store.Tx(ctx, "import repositories", func(ctx context.Context) error {
		followed, names := map[string]bool{}, make([]string, len(entries))
		for i, e := range entries {
			names[i] = e.FullName
		}
		if err := fl.cfg.Repos.HoldNamed(ctx, host.Ref, names); err != nil {
			return err
		}
		out.Followed, out.Known = []string{}, 0
		// Those that are not stored yet are added in the order of repo.Store.SaveAll.
		for _, e := range slices.SortedFunc(slices.Values(entries), compareNames) {
			if _, err := fl.cfg.Repos.FindVisible(ctx, userID, e.FullName); err == nil {
				out.Known++
				continue
			}
			err := fl.followAt(ctx, userID, host.Ref, e.FullName, false)
			if f := fault.As(err); err != nil && (f.Code == fault.NotFound || f.Code == fault.Conflict) {
				problems = append(problems, repolist.Problem{Line: e.Line, Text: e.Text, Message: f.Message})
				continue
			}
			if err != nil {
				return err
			}
			followed[e.FullName] = true
		}
		for _, e := range entries {
			if followed[e.FullName] {
				out.Followed = append(out.Followed, e.FullName)
			}
		}
		return nil
	})
	if err != nil {
		return out, err
	}
	slices.SortStableFunc(problems, func(a, b repolist.Problem) int { return a.Line - b.Line })
	out.ProblemCount = len(problems)
	for _, p := range problems[:min(len(problems), maxProblems)] {
		out.Problems = append(out.Problems, ImportProblem(p))
	}
	return out, nil
}

// compareNames orders entries by the names of their repositories.
func compareNames(a, b repolist.Entry) int {
	return strings.Compare(repo.KeyOf(a.FullName), repo.KeyOf(b.FullName))
}

// checkSites returns the entries that the code host has, by the sites of their addresses.
func (fl *Following) checkSites(ctx context.Context, userID string,
	parsed repolist.Parsed) (entries []repolist.Entry, problems []repolist.Problem, err error) {
	problems = parsed.Problems
	owned, seen := map[string]bool{"": true}, map[string]bool{}
	for _, e := range parsed.Entries {
		own, asked := owned[e.Site]
		if !asked {
			if len(owned) > maxSites {
				problems = append(problems, repolist.Problem{Line: e.Line, Text: e.Text, Message: "the text names more than 20 sites"})
				continue
			}
			if own, err = fl.cfg.Syncer.OwnsSite(ctx, userID, e.Site, e.FullName); err != nil {
				return nil, nil, err
			}
			owned[e.Site] = own
		}
		switch key := repo.KeyOf(e.FullName); {
		case !own:
			problems = append(problems, repolist.Problem{Line: e.Line, Text: e.Text, Message: e.Site + " is not the code host"})
		case !seen[key]:
			seen[key], entries = true, append(entries, e)
		}
	}
	return entries, problems, nil
}
