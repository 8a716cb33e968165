package releases

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/openapitest"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// vendorSchemas returns the directory in which npm has installed the published descriptions of APIs. TestMain removes it.
func vendorSchemas(t testing.TB) string {
	t.Helper()
	_, err := exec.LookPath("npm")
	testkit.Require(t, "npm", err == nil, "install Node 20 or newer with npm")
	dir, err := installSchemas()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// installSchemas installs the packages once for all tests.
var installSchemas = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(kit.Scratch, "schemas")
	if err := os.CopyFS(dir, os.DirFS("schemas")); err != nil {
		return "", err
	}
	return dir, testkit.InstallPackages(dir)
})

// checkQueries is a program that reads GraphQL requests, as a JSON list, and prints what is wrong with them by GitHub's schema.
const checkQueries = `
import { readFileSync } from "node:fs";
import { schema } from "@octokit/graphql-schema";
import { buildSchema, parse, validate } from "graphql";
import { getVariableValues } from "graphql/execution/values.js";
// The published text defines some fields twice, so that it is not checked itself.
const github = buildSchema(schema.idl, { assumeValidSDL: true });
for (const { query, variables } of JSON.parse(readFileSync(0))) {
  const document = parse(query);
  const wrong = [...validate(github, document)];
  for (const definition of document.definitions) {
    wrong.push(...(getVariableValues(github, definition.variableDefinitions ?? [], variables ?? {}).errors ?? []));
  }
  for (const error of wrong) console.log(error.message + ": " + query);
}
`

// checkGraphQL fails the test for each request that GitHub's published GraphQL schema does not allow.
func checkGraphQL(t *testing.T, schemas string, queries []githubtest.Query) {
	t.Helper()
	raw, err := json.Marshal(queries)
	kit.Must(t, err)
	cmd := exec.Command("node", "--input-type=module", "--eval", checkQueries)
	cmd.Dir, cmd.Stdin = schemas, strings.NewReader(string(raw))
	out, err := cmd.CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestReleasesOfGitHub reads the feed of an account of the double of GitHub. A proxy between them checks every request and every
// answer against the description that GitHub publishes, and so are the queries of GraphQL.
func TestReleasesOfGitHub(t *testing.T) {
	t.Parallel()
	schemas := vendorSchemas(t)
	document, err := os.ReadFile(filepath.Join(schemas, "node_modules", "@octokit", "openapi", "generated", "api.github.com.json"))
	kit.Must(t, err)
	hub := githubtest.New(t)
	proxy := openapitest.Start(t, openapitest.Config{Document: document, Upstream: hub.URL, Undocumented: []string{"/graphql"}})
	// The links between the pages of a list lead to the proxy as well.
	hub.Change(func(s *githubtest.Server) { s.URL = proxy.URL })
	at := time.Now().UTC().Truncate(time.Second).Add(-time.Hour)
	hub.Token("ghp_a_token_of_ada_lovelace", "ada")
	hub.Token("ghp_a_token_of_grace_hopper", "grace")
	hub.AddRepo(githubtest.Repo{FullName: "acme/engine", PushedAt: at})
	hub.AddRepo(githubtest.Repo{FullName: "ada/notes", PushedAt: at})
	hub.Change(func(s *githubtest.Server) {
		s.Content("acme/engine").Releases = []*githubtest.Release{{ID: 1, Tag: "v1.0.0", Name: "v1.0.0", At: at}}
		s.Content("ada/notes").Releases = []*githubtest.Release{{ID: 2, Tag: "v1.0.0", Name: "v1.0.0", At: at}}
		a := s.Account("ada")
		a.Starred = []githubtest.Star{{Repo: "acme/engine", At: at}}
		a.Notifications = []githubtest.Notification{{ID: "5", Repo: "acme/engine", Title: "Patterns are lost", Type: "Issue", Reason: "mention",
			UpdatedAt: at, Unread: true, SubjectURL: "https://api.github.com/repos/acme/engine/issues/1"}}
		a.Events = []githubtest.Event{{ID: "7", Type: "ForkEvent", Actor: "grace", Repo: "acme/engine", Fork: "grace/engine", At: at}}
	})
	hub.SetQuota(githubtest.Quota{Limit: 5000, Remaining: 5000, Reset: time.Now().Add(time.Hour)})
	b := checkFlow(t, followedHost{
		hcl: fmt.Sprintf("codehost \"github\" \"hub\" {\n  config { base_url = %q }\n}\n", proxy.URL), token: "ghp_a_token_of_ada_lovelace",
		others: []string{"repo_forked grace/engine grace/engine grace"},
		change: func() {
			hub.Change(func(s *githubtest.Server) {
				now, engine := time.Now(), s.Content("acme/engine")
				engine.Releases = slices.Insert(slices.Clone(engine.Releases), 0, &githubtest.Release{ID: 3, Tag: "v1.1.0", Name: "v1.1.0", At: now})
				s.Content("ada/notes").Stargazers = []githubtest.Star{{Repo: "grace", At: now}}
				s.Account("ada").Followers = []string{"grace"}
			})
		},
		unstar: func() { hub.Change(func(s *githubtest.Server) { s.Account("ada").Starred = nil }) },
	})
	var found []struct {
		ID string `json:"release_id"`
	}
	kit.Must(t, json.Unmarshal([]byte(b.FetchReleases(http.MethodGet, "releases", "")), &found))
	if len(found) == 0 {
		t.Fatal("there is no release to react to")
	}
	if got := b.FetchReleases(http.MethodPost, "release/reactions/toggle",
		fmt.Sprintf(`{"release_id":%q,"content":"rocket"}`, found[0].ID)); !strings.Contains(got, `"rocket":1`) {
		t.Errorf("a reaction was left: %s", got)
	}
	for _, operation := range []string{
		"users/get-authenticated", "repos/list-releases", "activity/list-notifications-for-authenticated-user",
		"users/list-followers-for-authenticated-user", "activity/list-stargazers-for-repo",
		"activity/list-received-events-for-user",
	} {
		if proxy.Operations()[operation] == 0 {
			t.Errorf("%s was not asked for", operation)
		}
	}
	checkGraphQL(t, schemas, hub.Queries())
	t.Logf("checked: %v, and %d queries", proxy.Operations(), len(hub.Queries()))
}
