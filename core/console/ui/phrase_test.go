package ui

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
		texts, err := NewTexts(source(test.text))
		if err != nil {
			t.Fatal(err)
		}
		if got := texts.lookUpText(English, "a.text", test.args); got != test.want {
			t.Errorf("%s with %v is %q, want %q", test.text, test.args, got, test.want)
		}
	}
}

func TestPlurals(t *testing.T) {
	texts, err := NewTexts(source(`{"one": "{{.Count}} job", "other": "{{.Count}} jobs"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		lang  string
		count int
		want  string
	}{{English, 0, "0 jobs"}, {English, 1, "1 job"}, {English, -1, "-1 job"}, {English, 21, "21 jobs"}, {English, 1000001, "1,000,001 jobs"},
		{Chinese, 1, "1 jobs"}} {
		v := &View{Lang: test.lang, kit: &Kit{cfg: Config{Texts: texts}}}
		if got := v.N("a.text", test.count); got != test.want {
			t.Errorf("%d in %s is %q, want %q", test.count, test.lang, got, test.want)
		}
		if got := v.N("none", test.count); got != "⟦none⟧" {
			t.Errorf("a text that is missing is %q", got)
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
		if _, err := NewTexts(source(text)); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"a.text"`) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := NewTexts(source(`"a"`), source(`"b"`)); err == nil || !strings.Contains(err.Error(), "two sources") {
		t.Errorf("a text of two sources: %v", err)
	}
}
