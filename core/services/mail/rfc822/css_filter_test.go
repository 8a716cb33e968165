package rfc822

import (
	"strings"
	"testing"
)

// testImageURL knows the images of the tests.
func testImageURL(address string) string {
	if strings.HasPrefix(address, "cid:") {
		return "attachments/att_1"
	}
	return ""
}

// TestFilterStyles has what designed mails need, and what attackers try.
func TestFilterStyles(t *testing.T) {
	const evil = "https://evil.example/x"
	for _, test := range []struct{ name, source, want string }{
		{"a rule", `.a, #b > td{color:#F00 !important;font:12px/1.5 "Open Sans",serif}`,
			`.a, #b > td{color:#F00 !important;font:12px / 1.5 "Open Sans",serif;}` + "\n"},
		{"media", `@media only screen and (max-width:480px){.a{width:100% !important}}`,
			`@media only screen and (max-width:480px){.a{width:100% !important;}` + "\n}\n"},
		{"a range", `@media (width <= 600px){a{b:c}}`, "@media (width <= 600px){a{b:c;}\n}\n"},
		{"keyframes", `@keyframes f{from{opacity:0}50%{opacity:.5}}`, "@keyframes f{from{opacity:0;}\n50%{opacity:.5;}\n}\n"},
		{"functions", `a{width:calc(100% - 2px);background:linear-gradient(to right,rgba(0,0,0,.5),#fff)}`,
			"a{width:calc(100% - 2px);background:linear-gradient(to right,rgba(0,0,0,.5),#fff);}\n"},
		{"HTML comments", "<!--\n.a{color:red}\n-->", ".a{color:red;}\n"},
		{"own image", `a{background:#fff url(cid:logo) no-repeat}`, `a{background:#fff url("attachments/att_1") no-repeat;}` + "\n"},
		{"selectors", `a:not([href^="mailto:"])::before, li:nth-child(2n+1){content:"\201C"}`,
			`a:not([href^="mailto:"])::before, li:nth-child(2n+1){content:"“";}` + "\n"},
		{"a rule in a rule", `.a{color:red;&:hover{color:blue}}`, ".a{color:red;&:hover{color:blue;}\n}\n"},
		{"a broken rule", `.a{color:red;;:;x}.b{color:blue`, ".a{color:red;}\n.b{color:blue;}\n"},
		{"import", `@import "` + evil + `";@import url(` + evil + `);a{b:c}`, "a{b:c;}\n"},
		{"import with escapes", `@\69mport "` + evil + `";@IMP\4f RT url(` + evil + `);a{b:c}`, "a{b:c;}\n"},
		{"import behind a comment", `@/**/import "` + evil + `";@import/**/"` + evil + `";a{b:c}`, "a{b:c;}\n"},
		{"import with a block", `@import{a:url(` + evil + `)}`, ""},
		{"import behind an open block", `@media x{` + "\n" + `@import "` + evil + `";`, "@media x{}\n"},
		{"font", `@font-face{font-family:x;src:url(` + evil + `)}a{font-family:x}`, "a{font-family:x;}\n"},
		{"namespace and charset", `@charset "utf-7";@namespace url(` + evil + `);`, ""},
		{"url", `a{background:url(` + evil + `)}`, "a{background:none;}\n"},
		{"url in quotes", `a{background:url( "` + evil + `" ) #fff}`, "a{background:none #fff;}\n"},
		{"url with escapes", `a{background:\75\72\6c(` + evil + `)}b{background:u\72l("` + evil + `")}`,
			"a{background:none;}\nb{background:none;}\n"},
		{"url with an escaped scheme", `a{background:url(\68ttps://evil.example/x)}`, "a{background:none;}\n"},
		{"url without a scheme", `a{background:url(//evil.example/x)}b{background:url(/system/api/logout)}`,
			"a{background:none;}\nb{background:none;}\n"},
		{"url with a bracket", `a{background:url(x(` + evil + `))}b{c:d}`, "a{}\nb{c:d;}\n"},
		{"url that is not closed", `a{background:url(` + evil, "a{background:none;}\n"},
		{"url across a comment", `a{background:u/**/rl(` + evil + `)}`, "a{}\n"},
		{"url in a property", `a{--x:url(` + evil + `);background:var(--x)}`, "a{--x:none;background:var(--x);}\n"},
		{"a block in a property", `a{--x:{background:url(` + evil + `)};color:red}`, "a{color:red;}\n"},
		{"image set", `a{background:image-set("` + evil + `" 1x)}b{background:-webkit-image-set(url(` + evil + `) 1x)}`, "a{}\nb{}\n"},
		{"other images", `a{background:image("` + evil + `")}b{background:cross-fade(url(a),url(b))}c{background:src("` + evil + `")}`,
			"a{}\nb{}\nc{}\n"},
		{"expression", `a{width:expression(alert(1))}b{width:ex\70ression(alert(1))}c{width:exp/**/ression(alert(1))}`, "a{}\nb{}\nc{}\n"},
		{"bindings", `a{-moz-binding:url(` + evil + `#x);behavior:url(x.htc);\62 ehavior:url(x.htc)}`, "a{}\n"},
		{"url in a selector", `a[b=url(` + evil + `)]{c:d}`, ""},
		{"url in a condition", `@supports (background:url(` + evil + `)){a{b:c}}`, ""},
		{"document rule", `@document url(` + evil + `){a{b:c}}`, ""},
		{"end of the element", `a{content:"</style><script>"}b</style>{c:d}`,
			`a{content:"\3c /style\3e \3c script\3e ";}` + "\n" + "b< / style>{c:d;}\n"},
		{"end of the element in a name", `a\3c\2fstyle\3e{b:c}`, `a\3c \2f style\3e {b:c;}` + "\n"},
		{"brackets", `a{b:c)};d{e:(f}g{h:i}`, "a{}\nd{}\ng{h:i;}\n"},
		{"string over lines", "a{b:\"x\n;background:url(" + evil + ")}c{d:e}", "a{background:none;}\nc{d:e;}\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := filterStyles(test.source, testImageURL)
			if got != test.want {
				t.Errorf("%s\ngives %q\nwant  %q", test.source, got, test.want)
			}
			if again := filterStyles(got, func(string) string { return "attachments/att_1" }); again != got {
				t.Errorf("%q is not stable: %q", got, again)
			}
		})
	}
	for source, want := range map[string]string{
		`color:red;background:url(` + evil + `)`: "color:red;background:none;",
		`color:red}body{display:none`:            "color:red;",
		`a{b:url(` + evil + `)};color:red`:       "color:red;",
		`position:fixed;top:0`:                   "top:0;",
		`position:\66ixed!important;top:0`:       "top:0;",
		`position:absolute`:                      "position:absolute;",
	} {
		if got := filterDeclarations(source, testImageURL); got != want {
			t.Errorf("%q gives %q, want %q", source, got, want)
		}
	}
	if got := filterStyles(strings.Repeat("@media x{", 100_000), testImageURL); len(got) > 1000 {
		t.Errorf("deep blocks give %d bytes", len(got))
	}
	if got := filterStyles(strings.Repeat("a{b:c}", 1<<20), testImageURL); len(got) > maxCSS+1000 {
		t.Errorf("a long sheet gives %d bytes", len(got))
	}
}

func FuzzFilterStyles(f *testing.F) {
	f.Add(`@import "x";a{background:url(x)}`)
	f.Add(`a{b:\75 rl(//x)}@media x{`)
	f.Fuzz(func(t *testing.T, source string) {
		got := filterStyles(source, func(string) string { return "" })
		lower := strings.ToLower(got)
		for _, bad := range []string{"</", "url(", "@import", "@font-face", "image-set(", "expression("} {
			if strings.Contains(lower, bad) {
				t.Errorf("%q gives %q", source, got)
			}
		}
	})
}
