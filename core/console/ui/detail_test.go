package ui

import (
	"testing"
	"testing/fstest"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// TestDetails: sentences of services are shown in the language of the page with what varies in them, also inside one another; what
// is not ours stays as it is.
func TestDetails(t *testing.T) {
	source := func(en, zh string) fstest.MapFS {
		return fstest.MapFS{"en.json": {Data: []byte(en)}, "zh.json": {Data: []byte(zh)}}
	}
	texts, err := NewTexts(source(
		`{"detail.back": "{{.Name}} was rolled back: {{.Why}}", "detail.exit": "{{.Name}} ended with code {{.Code}}.", "detail.exit.why": "{{.Name}} ended with code {{.Code}}: {{.Why}}.", "detail.memory": "no memory"}`,
		`{"detail.back": "{{.Name}} 已回滚：{{.Why}}", "detail.exit": "{{.Name}} 以 {{.Code}} 退出。", "detail.exit.why": "{{.Name}} 以 {{.Code}} 退出：{{.Why}}。", "detail.memory": "内存不足"}`))
	if err != nil {
		t.Fatal(err)
	}
	v := &View{kit: &Kit{cfg: Config{Texts: texts}}}
	for text, want := range map[string]string{
		"web ended with code 3.":            "web 以 3 退出。",
		"web ended with code 3: no memory.": "web 以 3 退出：内存不足。",
		"no memory.":                        "内存不足",
		"blog / web was rolled back: web ended with code 3: no memory.": "blog / web 已回滚：web 以 3 退出：内存不足。",
		"blog / web was rolled back: manifest unknown":                  "blog / web 已回滚：manifest unknown",
		"manifest unknown\nno memory":                                   "",
		"a {{.Name}} ended with code <b>1</b>\n2.":                      "a {{.Name}} 以 <b>1</b>\n2 退出。",
		"": "",
		"no memory was rolled back: x was rolled back: y was rolled back:": "内存不足 已回滚：x 已回滚：y was rolled back:",
	} {
		v.Lang = Chinese
		got, ok := v.DetailText(text)
		if want == "" {
			want = text
		}
		if got != want || ok != (got != text || text == "") {
			t.Errorf("%q is %q, %v, want %q", text, got, ok, want)
		}
		v.Lang = English
		if got, ok := v.DetailText(text); got != text || !ok {
			t.Errorf("in English %q is %q, %v", text, got, ok)
		}
	}
}

// TestFaultsTellTheirReason: an error whose sentence is one of ours is told in the language of the page; one that is not has its
// reason beside the text of its code.
func TestFaultsTellTheirReason(t *testing.T) {
	texts, err := NewTexts(fstest.MapFS{
		"en.json": {Data: []byte(`{"fault.conflict": "It contradicts.", "detail.unread": "{{.Name}} cannot be read."}`)},
		"zh.json": {Data: []byte(`{"fault.conflict": "冲突。", "detail.unread": "无法读取 {{.Name}}。"}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ lang, message, want, reason string }{
		{English, "web cannot be read.", "web cannot be read.", ""},
		{Chinese, "web cannot be read.", "无法读取 web。", ""},
		{English, "manifest unknown", "manifest unknown", ""},
		{Chinese, "manifest unknown", "冲突。", "manifest unknown"},
	} {
		v := &View{kit: &Kit{cfg: Config{Texts: texts}}, Lang: c.lang}
		e := fault.New(fault.Conflict, "%s", c.message)
		if got, reason := v.Fault(e), v.faultReason(e); got != c.want || reason != c.reason {
			t.Errorf("in %s %q is %q with the reason %q, want %q, %q", c.lang, c.message, got, reason, c.want, c.reason)
		}
	}
}
