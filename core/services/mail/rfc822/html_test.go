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
		{name: "style element", source: `<style>@import url(https://example.com/x.css)</style>text`, has: []string{"text"}, hasNot: []string{"import"}},
		{name: "style with a URL", source: `<div style="background-image:url(https://example.com/x.png);color:red">x</div>`, has: []string{"color: red"}, hasNot: []string{"url("}},
		{name: "fixed position", source: `<div style="position:fixed;top:0">x</div>`, hasNot: []string{"fixed"}},
		{name: "remote image", source: `<img src="https://example.com/x.png" alt="logo">`, has: []string{`alt="logo"`}, hasNot: []string{"example.com"}, blocked: true},
		{name: "remote image, asked for", source: `<img src="https://example.com/x.png">`, has: []string{"https://example.com/x.png"}, remote: true},
		{name: "image without a scheme", source: `<img src="//example.com/x.png"><img src="/system/api/logout">`, hasNot: []string{"example.com", "/system"}},
		{name: "image set", source: `<img srcset="https://example.com/x.png 2x">`, hasNot: []string{"example.com"}},
		{name: "inline image", source: `<img src="cid:logo@example.com">`, has: []string{`src="/mail/api/messages/msg_1/attachments/1"`}},
		{name: "inline image that is missing", source: `<img src="cid:other@example.com">`, hasNot: []string{"cid:", "other"}},
		{name: "script link", source: `<a href="javascript:alert(1)">x</a><a href=" java&#x0a;script:alert(1)">y</a>`, hasNot: []string{"script:", "href"}},
		{name: "relative link", source: `<a href="/system/users">x</a>`, hasNot: []string{"/system"}},
		{name: "link", source: `<a href="https://example.com/a?b=c">x</a>`, has: []string{`href="https://example.com/a?b=c"`, "noreferrer", `target="_blank"`}},
		{name: "data image", source: `<img src="data:image/svg+xml;base64,PHN2Zz4=">`, hasNot: []string{"data:"}},
		{name: "frames and forms", source: `<iframe src="https://example.com"></iframe><form action="https://example.com"><input name=a></form><object data="x"></object><embed src="x"><base href="https://example.com/"><meta http-equiv=refresh content="0;url=https://example.com"><link rel=stylesheet href="https://example.com/x">`, hasNot: []string{"example.com", "<"}},
		{name: "svg and math", source: `<svg><script>alert(1)</script></svg><math><mtext><script>alert(1)</script></mtext></math>`, hasNot: []string{"<svg", "<math", "<script"}},
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
