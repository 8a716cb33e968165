package ui

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
)

// folders are those of the frame and of the sections that have a folder with this name.
func folders(t *testing.T, name string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("..", "*", name))
	if err != nil || len(found) == 0 {
		t.Fatalf("there is no folder %s: %v", name, err)
	}
	return found
}

func TestTemplatesHoldNoText(t *testing.T) {
	// What stands between tags and is not an expression; names of languages and of the product stand as they are.
	code := regexp.MustCompile(`^(case|default|if|else|for|switch)\b`)
	literal := regexp.MustCompile(`>([^<>{}@]*[A-Za-z]{2,}[^<>{}@]*)<`)
	fixed := []string{"English", "Patchbay"}
	files, err := filepath.Glob("../*.templ")
	if err != nil {
		t.Fatal(err)
	}
	below, err := filepath.Glob("../*/*.templ")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append(files, below...) {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range literal.FindAllStringSubmatch(string(raw), -1) {
			if text := strings.TrimSpace(m[1]); !slices.Contains(fixed, text) && !strings.Contains(text, "\n") && !code.MatchString(text) {
				t.Errorf("%s holds the text %q: write it with View.T", f, text)
			}
		}
	}
}

func TestAssets(t *testing.T) {
	a, err := NewAssets()
	if err != nil {
		t.Fatal(err)
	}
	for name, limit := range map[string]int{"app.js": 60 << 10, "app.css": 30 << 10, "icon.svg": 4 << 10} {
		if n := a.Size(name); n == 0 || n >= limit {
			t.Errorf("%s has %d bytes; it must have less than %d", name, n, limit)
		}
	}
	// What a page with charts loads at first, beside some 8 kB of its own with a month of values and 4 kB of headers, stays within 60 kB.
	sent := 0
	for _, name := range []string{"app.css", "app.js", "place.js", "chart.js", "icon.svg", "uPlot.iife.min.js", "uPlot.min.css"} {
		f, ok := a.File(name)
		if !ok {
			t.Fatalf("there is no %s", name)
		}
		sent += f.SizeSent()
	}
	if sent > 48_000 {
		t.Errorf("a page with charts loads %d bytes of scripts and styles", sent)
	}
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.GET(a.Route().Path, a.Route().Handler)
	w := httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequest(http.MethodGet, a.URL("app.css"), nil))
	if w.Code != http.StatusOK || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") ||
		!strings.HasPrefix(w.Header().Get("Content-Type"), "text/css") {
		t.Errorf("status %d, headers %v", w.Code, w.Header())
	}
	w = httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/assets/app.css", nil))
	if w.Code != http.StatusNotFound {
		t.Errorf("a name without its hash is answered with %d", w.Code)
	}
}

// TestTextsArePacked: every text that browsers load is there in brotli, as it is now.
func TestTextsArePacked(t *testing.T) {
	dirs, err := filepath.Glob("../../services/*/pages/static")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("there are no files of services: %v", err)
	}
	var sources []fs.FS
	for _, dir := range append(dirs, "../../supervisor/static") {
		sources = append(sources, os.DirFS(dir))
	}
	a, err := NewAssets(sources...)
	if err != nil {
		t.Fatal(err)
	}
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.GET(a.Route().Path, a.Route().Handler)
	for name, url := range a.urls {
		if ext := path.Ext(name); ext != ".js" && ext != ".css" {
			continue
		}
		w := httptest.NewRecorder()
		req := httptest.NewRequest(http.MethodGet, url, nil)
		req.Header.Set("Accept-Encoding", "br")
		e.ServeHTTP(w, req)
		if w.Header().Get("Content-Encoding") != "br" {
			t.Errorf("%s is not there in brotli: run make generate", name)
		}
	}
}

func TestVendoredFilesAreWhatTheListSays(t *testing.T) {
	for _, dir := range folders(t, filepath.Join("static", "vendor")) {
		vendored(t, dir)
	}
}

// vendored compares a folder of files of others with its list.
func vendored(t *testing.T, root string) {
	t.Helper()
	list, err := os.ReadFile(filepath.Join(root, "vendor.txt"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(list)) {
		fields := strings.Fields(line)
		if strings.HasPrefix(line, "#") || len(fields) == 0 {
			continue
		}
		if len(fields) != 5 {
			t.Fatalf("the line %q has not five words", line)
		}
		file, want := fields[3], fields[4]
		raw, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Error(err)
			continue
		}
		if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s is not the file of the list", file)
		}
		if _, err := os.Stat(filepath.Join(root, filepath.Dir(file), "LICENSE")); err != nil {
			t.Errorf("%s has no licence beside it", file)
		}
		listed[file] = true
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".js" && !listed[rel] {
			t.Errorf("%s stands not in the list", rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLocalPath(t *testing.T) {
	for in, want := range map[string]string{
		"/system/jobs?state=failed": "/system/jobs?state=failed", "/search/tokens": "/search/tokens",
		"": Home, "https://evil.example/": Home, "//evil.example/": Home, "/\\evil.example": Home, "/a\r\nSet-Cookie: x=y": Home,
		"javascript:alert(1)": Home,
	} {
		if got := LocalPath(in); got != want {
			t.Errorf("LocalPath(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLanguageOfARequest(t *testing.T) {
	tx, err := NewTexts(OwnTexts())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ chosen, accept, want string }{
		{"", "", English}, {"", "zh-CN,zh;q=0.9,en;q=0.8", Chinese}, {"", "en-GB,en;q=0.9,zh;q=0.8", English}, {"", "fr-FR", English},
		{"zh", "en", Chinese}, {"en", "zh-CN", English}, {"xx", "zh", Chinese}, {"", "zh-TW;q=0.5, de;q=0.1", Chinese}, {"", ";;;", English},
	} {
		if got := tx.chooseLanguage(c.chosen, c.accept); got != c.want {
			t.Errorf("choose(%q, %q) = %q, want %q", c.chosen, c.accept, got, c.want)
		}
	}
}

func TestForms(t *testing.T) {
	tx, err := NewTexts(OwnTexts())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	v := &View{Lang: English, Now: now, kit: NewKit(Config{Texts: tx})}
	for _, c := range []struct{ got, want string }{
		{v.Num(1234567), "1,234,567"}, {v.Bytes(512), "512 B"}, {v.Bytes(13 << 20), "13.0 MiB"}, {v.Percent(1, 3), "33.3 %"},
		{v.Percent(1, 0), "–"},
		{v.Millis(1500 * time.Microsecond), "1.5 ms"}, {v.Millis(42 * time.Millisecond), "42 ms"}, {v.Millis(3200 * time.Millisecond), "3.2 s"},
		{v.Millis(0), "–"},
		{v.Ago(now.Add(-5 * time.Minute)), "5 min ago"}, {v.Ago(now.Add(3 * time.Hour)), "in 3 h"}, {v.Ago(now), "just now"},
		{v.Ago(time.Time{}), "–"},
		{v.Exact(now), "2 Jan 2026, 03:04:05 UTC"}, {v.N("home.attention.count", 1), "1 thing needs attention."},
		{v.T("no.such.text"), "⟦no.such.text⟧"},
		{v.State("ready"), "ready"}, {v.State("unheard_of"), "unheard_of"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	v.Lang = Chinese
	if got := v.Ago(now.Add(-5 * time.Minute)); got != "5 分钟前" {
		t.Errorf("got %q", got)
	}
}
