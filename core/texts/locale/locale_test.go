package locale

import (
	"strings"
	"testing"
	"testing/fstest"
)

// source returns a source of texts with one text in both languages.
func source(text string) fstest.MapFS {
	file := &fstest.MapFile{Data: []byte(`{"a.text": ` + text + `}`)}
	return fstest.MapFS{"en.json": file, "zh.json": file}
}

func TestPhrases(t *testing.T) {
	for _, test := range []struct {
		text string
		args []any
		want string
	}{
		{`"Plain"`, nil, "Plain"},
		{`"Plain"`, []any{"A", 1}, "Plain"},
		{`"{{.A}} of {{.B2}}, {{.A}}"`, []any{"A", 7, "B2", "nine"}, "7 of nine, 7"},
		{`"{{.A}}{{.B}}"`, []any{"B", "b", "A", "{{.B}}"}, "{{.B}}b"},
		{`"<{{.A}}>"`, []any{"A", ""}, "<>"},
		{`"no {{.A}}"`, []any{"B", 1}, "no {{.A}}"},
		{`"no {{.A}}"`, []any{"A"}, "no {{.A}}"},
		{`{"one": "a job", "other": "jobs"}`, nil, "jobs"},
	} {
		texts, err := Read(source(test.text))
		if err != nil {
			t.Fatal(err)
		}
		if got := texts.Text(English, "a.text", test.args...); got != test.want {
			t.Errorf("%s with %v is %q, want %q", test.text, test.args, got, test.want)
		}
	}
}

func TestWrongTexts(t *testing.T) {
	for text, want := range map[string]string{
		`"{{.A"`:                                 "a parameter is not written",
		`"{{ .A }}"`:                             "a parameter is not written",
		`"{{if .A}}a{{end}}"`:                    "a parameter is not written",
		`"A}}"`:                                  "a parameter is not written",
		`{"one": "{{A}}", "other": "{{.A}}"}`:    "a parameter is not written",
		`{"one": "a", "few": "b", "other": "c"}`: "other than one and other",
	} {
		if _, err := Read(source(text)); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"a.text"`) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := Read(source(`"a"`), source(`"b"`)); err == nil || !strings.Contains(err.Error(), "two sources") {
		t.Errorf("a text of two sources: %v", err)
	}
}

func TestUnknownLanguageIsEnglish(t *testing.T) {
	texts, err := Read(fstest.MapFS{
		"en.json": {Data: []byte(`{"jobs": {"one": "{{.N}} job", "other": "{{.N}} jobs"}}`)},
		"zh.json": {Data: []byte(`{"jobs": "{{.N}} 个任务"}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		lang string
		n    int
		want string
	}{{"en", 0, "0 jobs"}, {"en", 1, "1 job"}, {"en", 2, "2 jobs"}, {"zh", 1, "1 个任务"}, {"", 1, "1 job"}, {"de", 2, "2 jobs"},
		{"zh-CN", 1, "1 job"}} {
		if got := texts.Plural(test.lang, "jobs", test.n, "N", test.n); got != test.want {
			t.Errorf("%d in %q is %q, want %q", test.n, test.lang, got, test.want)
		}
	}
}
