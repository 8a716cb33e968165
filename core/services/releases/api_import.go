package releases

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/services/releases/repolist"
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

type (
	importInput struct {
		Body struct {
			Format  string `json:"format,omitempty" enum:",auto,list,opml,go.mod,package.json" doc:"auto, or nothing, finds it by the text."`
			Content string `json:"content" doc:"At most 256 KiB that name 1000 repositories."`
		}
	}
	importOutput struct{ Body ImportResult }
)

const (
	// maxProblems is how many problems of an import are told.
	maxProblems = 200
	// maxSites is how many sites the addresses of an import may have.
	maxSites = 20
	// importLimit is the largest body of a request for an import: JSON may need more bytes than the text that it holds.
	importLimit = 2 * repolist.MaxSize
)

// importAPI declares the import of repositories.
func (s *Service) importAPI(a *api.API) {
	op := withText(newOperation("import", http.MethodPost, "/api/repos/import", tagFollow, httpd.APIKey, "Follow the repositories that a text names", http.StatusServiceUnavailable),
		"A list of names and addresses, the OPML file of a feed reader, a go.mod, or a package.json whose dependencies are repositories. Entries of other sites than the code host are problems.")
	op.BodyLimit = importLimit
	api.Register(a, op, s.importRepos)
}

func (s *Service) importRepos(ctx context.Context, in *importInput) (*importOutput, error) {
	userID, err := ownerOf(ctx)
	if err != nil {
		return nil, err
	}
	parsed, err := repolist.Parse(repolist.Format(in.Body.Format), in.Body.Content)
	if err != nil {
		return nil, err
	}
	entries, problems, err := s.checkSites(ctx, userID, parsed)
	if err != nil {
		return nil, err
	}
	out := &importOutput{ImportResult{Format: string(parsed.Format), Followed: []string{}, Problems: []ImportProblem{}}}
	host, err := s.syncer.MainHost()
	if err != nil {
		return nil, err
	}
	err = s.cfg.Store.Tx(ctx, "import repositories", func(ctx context.Context) error {
		followed, names := map[string]bool{}, make([]string, len(entries))
		for i, e := range entries {
			names[i] = e.FullName
		}
		if err := s.repos.HoldNamed(ctx, host.Ref, names); err != nil {
			return err
		}
		out.Body.Followed, out.Body.Known = []string{}, 0
		// Those that are not stored yet are added in the order of repo.Store.SaveAll.
		for _, e := range slices.SortedFunc(slices.Values(entries), compareNames) {
			if _, err := s.repos.FindVisible(ctx, userID, e.FullName); err == nil {
				out.Body.Known++
				continue
			}
			err := s.followAt(ctx, userID, host.Ref, e.FullName, false)
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
				out.Body.Followed = append(out.Body.Followed, e.FullName)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(problems, func(a, b repolist.Problem) int { return a.Line - b.Line })
	out.Body.ProblemCount = len(problems)
	for _, p := range problems[:min(len(problems), maxProblems)] {
		out.Body.Problems = append(out.Body.Problems, ImportProblem(p))
	}
	return out, nil
}

// compareNames orders entries by the names of their repositories.
func compareNames(a, b repolist.Entry) int {
	return strings.Compare(repo.KeyOf(a.FullName), repo.KeyOf(b.FullName))
}

// checkSites returns the entries that the code host has, by the sites of their addresses.
func (s *Service) checkSites(ctx context.Context, userID string, parsed repolist.Parsed) (entries []repolist.Entry, problems []repolist.Problem, err error) {
	problems = parsed.Problems
	owned, seen := map[string]bool{"": true}, map[string]bool{}
	for _, e := range parsed.Entries {
		own, asked := owned[e.Site]
		if !asked {
			if len(owned) > maxSites {
				problems = append(problems, repolist.Problem{Line: e.Line, Text: e.Text, Message: "the text names more than 20 sites"})
				continue
			}
			if own, err = s.syncer.OwnsSite(ctx, userID, e.Site, e.FullName); err != nil {
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

// ImportRepos has the caller follow the repositories that a text names.
func (s *Service) ImportRepos(ctx context.Context, content string) (ImportResult, error) {
	in := &importInput{}
	in.Body.Content = content
	out, err := s.importRepos(ctx, in)
	if err != nil {
		return ImportResult{}, err
	}
	return out.Body, nil
}
