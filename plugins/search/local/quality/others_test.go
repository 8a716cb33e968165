package quality

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// askFTS5 asks SQLite's FTS5 with the ranking bm25, through Python's module.
func askFTS5(t testing.TB, docs string, questions []question) map[string][]string {
	t.Helper()
	_, err := exec.LookPath("python3")
	testkit.Require(t, "python3", err == nil, "install Python 3 with sqlite3")
	return askScript(t, questions, "python3", filepath.Join("testdata", "fts5.py"), docs)
}

// askMiniSearch asks MiniSearch with the options of VitePress.
func askMiniSearch(t testing.TB, docs string, questions []question) map[string][]string {
	t.Helper()
	_, err := exec.LookPath("node")
	testkit.Require(t, "node", err == nil, "install Node 20 or newer with npm")
	dir := t.TempDir()
	for _, name := range []string{"minisearch.mjs", "package.json", "package-lock.json"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := testkit.InstallPackages(dir); err != nil {
		t.Fatal(err)
	}
	return askScript(t, questions, "node", filepath.Join(dir, "minisearch.mjs"), docs)
}

// askScript gives questions to a script and returns the pages that it has found for each set and question.
func askScript(t testing.TB, questions []question, name string, args ...string) map[string][]string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "questions.json")
	data, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(name, append(args, file)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var answers map[string][]string
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatal(err)
	}
	return answers
}
