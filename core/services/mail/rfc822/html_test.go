package rfc822

import (
	"strings"
	"testing"
)

func TestHTMLText(t *testing.T) {
	for source, want := range map[string]string{
		"<p>Hello <b>Ada</b>,</p><p>welcome</p>":                   "Hello Ada,\nwelcome",
		"<style>p{color:red}</style><script>alert(1)</script>text": "text",
		"<table><tr><td>Code</td><td>482913</td></tr></table>":     "Code 482913",
		"a<br>b &amp; c&nbsp;d":                                    "a\nb & c d",
		"a&nbsp;<b>b</b> \u3000c\u00e0":                            "a b c\u00e0",
		"12<b>34</b>56":                                            "123456",
		"<title>Shop</title><div>  many \n spaces  </div>":         "many spaces",
		"<p>unclosed <i>tags":                                      "unclosed tags",
		"<script>while(1){}":                                       "",
		"":                                                         "",
	} {
		if got := HTMLText(source, 1000); strings.ReplaceAll(got, "\u00a0", " ") != want {
			t.Errorf("%q gives %q, want %q", source, got, want)
		}
	}
	if got := HTMLText(strings.Repeat("验证 ", 1000), 100); len(got) > 100 || !strings.HasPrefix(got, "验证 验证") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

// BenchmarkHTMLText reads the HTML of a message of 5 KB.
func BenchmarkHTMLText(b *testing.B) {
	source := strings.Repeat("<p style=\"color:#333\">the <b>12</b> analytical engine weaves</p>\r\n", 80)
	b.ReportAllocs()
	for b.Loop() {
		HTMLText(source, MaxText)
	}
}

func TestSanitizeHTML(t *testing.T) {
	view := HTMLView{InlineURL: func(id string) string {
		if id == "logo@example.com" {
			return "/mail/api/messages/msg_1/attachments/1"
		}
		return ""
	}}
	for _, test := range []struct {
		name, source    string
		has, hasNot     []string
		remote, blocked bool
	}{
		{name: "script", source: `<script>alert(1)</script><p onclick="alert(1)">hi</p>`, has: []string{"<p>hi</p>"}, hasNot: []string{"alert"}},
		{name: "style element", source: `<head><style media="screen">.a{color:red}@import url(https://example.com/x.css);</style></head>text<style>.b{background:url(cid:logo@example.com)}</style>`,
			has:    []string{"text</body>", "@media screen{.a{color:red;}", `.b{background:url("/mail/api/messages/msg_1/attachments/1");}`},
			hasNot: []string{"import", "example.com"}},
		{name: "style element that ends early", source: `<style>.a{content:"</sty</style><img src=x onerror=alert(1)>`,
			hasNot: []string{"onerror"}},
		{name: "style in a comment", source: `<!--[if mso]><style>.a{color:red}</style><![endif]--><p class="a b" id="c">x</p>`,
			has: []string{`<p class="a b" id="c">x</p>`}, hasNot: []string{"color:red"}},
		{name: "style with a URL", source: `<div style="background-image:url(https://example.com/x.png);color:red">x</div>`,
			has: []string{"color:red"}, hasNot: []string{"url("}, blocked: true},
		{name: "style with a URL, asked for", source: `<div style="background-image:url(https://example.com/x.png)">x</div>`,
			has: []string{"url(&#34;https://example.com/x.png&#34;)"}, remote: true},
		{name: "style with an escaped URL", source: `<div style="background:\75 rl(&#34;https://example.com/x.png&#34;)">x</div>`,
			hasNot: []string{"example.com"}, blocked: true},
		{name: "background", source: `<table background="cid:logo@example.com"><tr><td background="https://example.com/x.png">x</td></tr></table>`,
			has: []string{"background-image:url(&#34;/mail/api/messages/msg_1/attachments/1&#34;)"}, hasNot: []string{"example.com"}, blocked: true},
		{name: "body", source: `<body bgcolor="#eee" text="navy" class="x" style="margin:0" onload="alert(1)" background="javascript:alert(1)">x`, has: []string{`<body class="x" style="color:navy;background-color:#eee;margin:0;">x`}, hasNot: []string{"alert"}},
		{name: "remote image", source: `<img src="https://example.com/x.png" alt="logo">`, has: []string{`alt="logo"`},
			hasNot: []string{"example.com"}, blocked: true},
		{name: "remote image, asked for", source: `<img src="https://example.com/x.png">`, has: []string{"https://example.com/x.png"},
			remote: true},
		{name: "image without a scheme", source: `<img src="//example.com/x.png"><img src="/system/api/logout">`,
			hasNot: []string{"example.com", "/system"}},
		{name: "image set", source: `<img srcset="https://example.com/x.png 2x">`, hasNot: []string{"example.com"}},
		{name: "inline image", source: `<img src="cid:logo@example.com">`, has: []string{`src="/mail/api/messages/msg_1/attachments/1"`}},
		{name: "inline image that is missing", source: `<img src="cid:other@example.com">`, hasNot: []string{"cid:", "other"}},
		{name: "script link", source: `<a href="javascript:alert(1)">x</a><a href=" java&#x0a;script:alert(1)">y</a>`,
			hasNot: []string{"script:", "href"}},
		{name: "relative link", source: `<a href="/system/users">x</a>`, hasNot: []string{"/system"}},
		{name: "link", source: `<a href="https://example.com/a?b=c">x</a>`,
			has: []string{`href="https://example.com/a?b=c"`, "noreferrer", `target="_blank"`}},
		{name: "data image", source: `<img src="data:image/png;base64,iVBO` + "\n" +
			`Rw0KGgo="><p style="background:url(data:image/gif;base64,R0lGOD==)">x</p>`,
			has: []string{`src="data:image/png;base64,iVBORw0KGgo="`, "url(&#34;data:image/gif;base64,R0lGOD==&#34;)"}},
		{name: "other data", source: `<img src="data:image/svg+xml;base64,PHN2Zz4="><p style="background:url(data:text/html,x)">x</p><a href="data:image/png;base64,iVBORw0KGgo=">x</a>`, hasNot: []string{"data:"}},
		{name: "frames and forms", source: `<iframe src="https://example.com"></iframe><form action="https://example.com"><input name=a></form><object data="x"></object><embed src="x"><base href="https://example.com/"><meta http-equiv=refresh content="0;url=https://example.com"><link rel=stylesheet href="https://example.com/x">`, has: []string{"<body></body>"}, hasNot: []string{"example.com"}},
		{name: "svg and math", source: `<svg><script>alert(1)</script></svg><math><mtext><script>alert(1)</script></mtext></math>`,
			hasNot: []string{"<svg", "<math", "<script"}},
		{name: "unfinished tag", source: `<img src=x onerror=alert(1) //`, hasNot: []string{"onerror="}},
	} {
		t.Run(test.name, func(t *testing.T) {
			view.RemoteImages = test.remote
			got, blocked := SanitizeHTML(test.source, view)
			for _, want := range test.has {
				if !strings.Contains(got, want) {
					t.Errorf("%q lacks %q", got, want)
				}
			}
			for _, bad := range test.hasNot {
				if strings.Contains(got, bad) {
					t.Errorf("%q has %q", got, bad)
				}
			}
			if blocked != test.blocked {
				t.Errorf("blocked is %v", blocked)
			}
		})
	}
}
