package search

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// nodeClients installs the example clients into a directory of the test; args are for npm.
func nodeClients(t *testing.T, args ...string) (dir string) {
	t.Helper()
	_, nodeErr := exec.LookPath("node")
	_, npmErr := exec.LookPath("npm")
	testkit.Require(t, "node", nodeErr == nil && npmErr == nil, "install Node 20 or newer with npm")
	dir = t.TempDir()
	files, err := filepath.Glob(filepath.Join(kit.Root(), "examples", "clients", "*.*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the example clients are not there: %v", err)
	}
	for _, f := range files {
		kit.CopyAll(t, f, filepath.Join(dir, filepath.Base(f)))
	}
	if err := testkit.InstallPackages(dir, args...); err != nil {
		t.Fatal(err)
	}
	return dir
}

// runNodeClient runs a program of the clients against a core.
func runNodeClient(t *testing.T, c *kit.Core, dir, token string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := exec.Command("node", args...)
	var out, problems strings.Builder
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &problems
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "PATCHBAY_URL=" + c.Base + "/search", "PATCHBAY_TOKEN=" + token}
	err = cmd.Run()
	return out.String(), problems.String(), err
}

// membersProgram puts the token into every member of the body that it could stand in.
const membersProgram = `
import { client } from "./client.mjs";
const token = process.env.PATCHBAY_TOKEN;
for (const name of ["api_key", "apiKey", "apikey", "API_KEY", "tavilyApiKey"]) {
  const { results } = await client.search("members", { [name]: token, sessionId: "telling", humanId: "telling" });
  await client.extract(["https://example.org/members"], { [name]: token });
  await client.map("https://example.org", { [name]: token });
  await client.crawl("https://example.org", { [name]: token });
  await client.research("members", { [name]: token });
  for await (const chunk of await client.research("members", { [name]: token, stream: true })) { }
  console.log(name, results.length);
}
`

// refusedProgram shows what a client sees of an error.
const refusedProgram = `
import { client } from "./client.mjs";
for (const call of [() => client.search("q", { maxResults: 21 }), () => client.search(" "), () => client.map("")]) {
  try { await call(); console.log("passed"); } catch (e) { console.log(e.message); }
}
`

func TestRealSDK(t *testing.T) {
	t.Parallel()
	dir := nodeClients(t, "--omit=dev")
	for name, text := range map[string]string{"members.mjs": membersProgram, "refused.mjs": refusedProgram} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("local", func(t *testing.T) {
		t.Parallel()
		url := site(t)
		c := kit.LocalCore(t, siteHCL(url, ""))
		c.Start()
		t.Cleanup(c.Stop)
		runClients(t, c, dir, c.Token(), []clientRun{
			{[]string{"search.mjs", "Who starts a crashed plugin again?"}, []string{"file:docs/guide.md", "started again by its host"}},
			{[]string{"extract.mjs", "file:docs/guide.md"}, []string{"# Guide", "A plugin that crashes is started again by its host."}},
			{[]string{"refused.mjs"}, []string{"max_results must be an integer from 0 to 20.", "The field query is empty.",
				"The field url is empty."}},
			{[]string{"map.mjs", url}, []string{"pages below " + url + "/\n", url + "/cranes\n"}},
			{[]string{"crawl.mjs", url}, []string{url + "/cranes\n", "The crane lifts forty tons of freight."}},
			{[]string{"research.mjs", "Who starts a crashed plugin again?"},
				[]string{"A plugin that crashes is started again by its host", "file:docs/guide.md"}},
		})
		// An address that the guard forbids is the backend's refusal.
		if _, problems, err := runNodeClient(t, c, dir, c.Token(), "map.mjs", "http://127.0.0.1:1/"); err == nil ||
			!strings.Contains(problems, "URL is not supported") {
			t.Errorf("map of an inner network: %v: %s", err, problems)
		}
		if _, problems, err := runNodeClient(t, c, dir, "th-zzzz-"+strings.Repeat("a", 24), "search.mjs"); err == nil ||
			!strings.Contains(problems, "access token is invalid") {
			t.Errorf("a wrong token: %v: %s", err, problems)
		}
	})
	t.Run("recording upstream", func(t *testing.T) {
		t.Parallel()
		record := filepath.Join(t.TempDir(), "record.jsonl")
		up := kit.StartUpstream(t, "-keys", "key-one", "-record", record)
		c := kit.StartCore(t, kit.WebHCL(up.URL, "", kit.EndlessLimits))
		c.AddKeys("key-one")
		token := c.Token()
		runClients(t, c, dir, token, []clientRun{
			{[]string{"search.mjs", "anything"}, []string{"Result 1\nhttps://example.org/1 (0.99)", "Passage about anything", "Result 3"}},
			{[]string{"extract.mjs", "https://example.org/a https://example.org/b"},
				[]string{"https://example.org/a\nPassage", "https://example.org/b\n"}},
			{[]string{"map.mjs", "https://example.org/docs"}, []string{"3 pages below https://example.org/docs", "https://example.org/docs/page-3"}},
			{[]string{"crawl.mjs", "https://example.org/docs"}, []string{"https://example.org/docs/page-1\nPassage about the page"}},
			{[]string{"research.mjs", "plugins"}, []string{"# Report\n\nOn plugins", "- Source: https://example.org/1"}},
			{[]string{"research-stream.mjs", "plugins"}, []string{"# Report\n\nOn plugins", "- Source: https://example.org/1"}},
			{[]string{"members.mjs"}, []string{"api_key 5", "apiKey 5", "apikey 5", "API_KEY 5", "tavilyApiKey 5"}},
		})
		recorded, err := os.ReadFile(record)
		if err != nil {
			t.Fatal(err)
		}
		// The core asks for the quota of its keys by the clock, so perhaps just now.
		if n := strings.Count(string(recorded), "\n") - strings.Count(string(recorded), `"path":"/usage"`); n != 8+5*6 {
			t.Errorf("%d requests of the clients were recorded, want %d", n, 8+5*6)
		}
		for _, text := range []string{token, token[3:7] + "-", token[8:], "telling", "tavily-js", "axios", "X-Client-Source", "X-Session-Id",
			"api_key", "piKey"} {
			if strings.Contains(string(recorded), text) {
				t.Errorf("%q went upstream", text)
			}
		}
		c.Records(t, kit.Storage{}).Balanced(c, token)
	})
}

type clientRun struct{ args, want []string }

func runClients(t *testing.T, c *kit.Core, dir, token string, runs []clientRun) {
	t.Helper()
	for _, run := range runs {
		stdout, stderr, err := runNodeClient(t, c, dir, token, run.args...)
		if err != nil {
			t.Errorf("node %s: %v\n%s", strings.Join(run.args, " "), err, stderr)
			continue
		}
		kit.Contains(t, fmt.Sprintf("node %v prints:\n%s", run.args, stdout), run.want...)
	}
}

func TestExampleClientsPinWhatTheyNeed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join(kit.Root(), "examples", "clients", name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), `"resolved"`) || strings.Contains(string(text), "registry") {
			t.Errorf("%s names a registry", name)
		}
		if !strings.Contains(string(text), `"@tavily/core": "0.7.13"`) {
			t.Errorf("%s does not pin the SDK", name)
		}
	}
}
