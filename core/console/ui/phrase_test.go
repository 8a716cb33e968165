package ui

import (
	"testing"
	"testing/fstest"
)

// source returns a source of texts with one text in both languages.
func source(text string) fstest.MapFS {
	file := &fstest.MapFile{Data: []byte(`{"a.text": ` + text + `}`)}
	return fstest.MapFS{"en.json": file, "zh.json": file}
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
