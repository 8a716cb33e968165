package documents

import (
	"html"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

var snippet = regexp.MustCompile(`(?s)<pre [^>]*aria-label="([^"]*)"><code>(.*?)</code></pre>`)

// readGuide are the snippets of the set-up guide, by the name that stands above each, as a browser shows them.
func readGuide(t *testing.T, c *kit.Core) map[string]string {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, c.Base+"/search/guide", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	resp, err := kit.HTTPClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("the guide: status %d, %v", resp.StatusCode, err)
	}
	out := map[string]string{}
	for _, m := range snippet.FindAllStringSubmatch(string(page), -1) {
		out[html.UnescapeString(m[1])] = html.UnescapeString(m[2])
	}
	return out
}

// TestGuideSnippets runs what the set-up guide tells users to run, exactly as it is shown there, with the versions that the
// folder snippets pins. The token stands in the environment, as the guide says.
func TestGuideSnippets(t *testing.T) {
	t.Parallel()
	_, nodeErr := exec.LookPath("node")
	_, npmErr := exec.LookPath("npm")
	_, curlErr := exec.LookPath("curl")
	testkit.Require(t, "node", nodeErr == nil && npmErr == nil, "install Node 20 or newer with npm")
	testkit.Require(t, "curl", curlErr == nil, "install curl")
	c, _, token := kit.StartWeb(t, "", "")
	shown := readGuide(t, c)
	dir := t.TempDir()
	for _, f := range []string{"package.json", "package-lock.json"} {
		kit.CopyAll(t, filepath.Join("snippets", f), filepath.Join(dir, f))
	}
	if err := testkit.InstallPackages(dir); err != nil {
		t.Fatal(err)
	}
	for name, run := range map[string]struct {
		file, program string
		want          []string
	}{
		"curl": {"curl.sh", "sh", []string{`"results":[`, "https://example.org/1"}},
		"JavaScript: @tavily/core": {"sdk.mjs", "node",
			[]string{`["https://example.org/1","https://example.org/2","https://example.org/3"]`}},
		"JavaScript: @langchain/tavily": {"langchain.mjs", "node",
			[]string{`["https://example.org/1","https://example.org/2","https://example.org/3"]`}},
		"JavaScript: @modelcontextprotocol/sdk": {"mcp.mjs", "node", []string{`"tavily_extract"`, `"tavily_search"`}},
	} {
		if shown[name] == "" {
			t.Errorf("the guide shows nothing for %s", name)
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, run.file), []byte(shown[name]), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(run.program, run.file)
		var stdout, stderr strings.Builder
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TOKEN=" + token}
		if err := cmd.Run(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, stderr.String())
			continue
		}
		kit.Contains(t, name+": "+stdout.String(), run.want...)
	}
	// What cannot be run here must at least have the address that the others have.
	for _, name := range []string{"Python: tavily-python", "MCP (mcpServers)"} {
		kit.Contains(t, shown[name], c.Base+"/search/")
	}
}

func TestGuideSnippetsPinWhatTheyNeed(t *testing.T) {
	t.Parallel()
	lock, err := os.ReadFile(filepath.Join("snippets", "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(lock), `"resolved"`) || strings.Contains(string(lock), "registry") {
		t.Error("the lock file names a registry")
	}
}
