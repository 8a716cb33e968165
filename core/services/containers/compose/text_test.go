package compose

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadTexts: what a file says is shown, but no secret in it, however it is written.
func TestReadTexts(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "compose.yaml")
	const text = `# a comment with password: planted-1
x-shared: &shared planted-2
services:
  web:
    image: registry.example.com/web:1.2
    command: ["serve", "--port=80", "--token=planted-3"]
    environment:
      DB_PASSWORD: planted-4
      API_TOKEN: "planted 5 with spaces"
      SECRET_TEXT: |
        planted-6
        planted-6
      FOLDED_SECRET: >-
        planted-7
      SHARED_SECRET: *shared
      DATABASE_URL: postgres://app:planted-8@db:5432/app
      PLAIN: shown-1
  worker:
    environment:
      - JWT_SECRET=planted-9
      - "SMTP_PASSWORD=planted-10"
      - LOG_LEVEL=shown-2
    secrets: [cert]
secrets:
  cert:
    file: ./shown-3.pem
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(dir, "broken.yaml")
	if err := os.WriteFile(broken, []byte("\t: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	got := ReadTexts(Source{WorkingDir: dir, Files: []string{path, broken, "/etc/passwd", filepath.Join(dir, "absent.yaml")}})
	shown := strings.Join(got[0].Lines, "\n")
	if got[0].Err != nil || strings.Contains(shown, "planted") {
		t.Errorf("shown, %v:\n%s", got[0].Err, shown)
	}
	for _, want := range []string{"image: registry.example.com/web:1.2", "--port=80", "PLAIN: shown-1", "LOG_LEVEL=shown-2",
		"file: ./shown-3.pem", "DB_PASSWORD: ", "JWT_SECRET=", "  worker:"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is missing in\n%s", want, shown)
		}
	}
	for _, f := range got[1:] {
		if f.Err == nil || len(f.Lines) > 0 {
			t.Errorf("%s is shown: %q", f.Path, f.Lines)
		}
	}
}
