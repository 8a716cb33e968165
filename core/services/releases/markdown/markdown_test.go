package markdown

import (
	"strings"
	"testing"
)

func TestRender(t *testing.T) {
	r := NewRenderer("/releases")
	for source, want := range map[string]string{
		"# Title\n\ntext":                                                                     "<h3>Title</h3>\n<p>text</p>\n",
		"[a](/o/r/releases/tag/v1?from=x)":                                                    `<p><a href="/releases/o/r/releases/tag/v1?from=x">a</a></p>` + "\n",
		"![shot](https://example.com/a.png)":                                                  `<p><a href="https://example.com/a.png" rel="nofollow noreferrer noopener" target="_blank">shot</a></p>` + "\n",
		"[![shot](https://example.com/a.png)](https://example.com)":                           `<p><a href="https://example.com" rel="nofollow noreferrer noopener" target="_blank">shot</a></p>` + "\n",
		`<img width="300" alt="the new page" src="https://example.com/b.png">`:                `<a href="https://example.com/b.png" rel="nofollow noreferrer noopener" target="_blank">the new page</a>`,
		`text <img src="https://example.com/c.png"/> text`:                                    `<p>text <a href="https://example.com/c.png" rel="nofollow noreferrer noopener" target="_blank">https://example.com/c.png</a> text</p>`,
		`<a href="https://example.com"><img alt="a <b>" src="https://example.com/d.png"></a>`: `<a href="https://example.com" rel="nofollow noreferrer noopener" target="_blank">a &lt;b&gt;</a>`,
		"`<img alt=code src=https://example.com/e.png>`":                                      "<code>&lt;img alt=code src=https://example.com/e.png&gt;</code>",
		"```go\nvar x = \"<b>\"\n```":                                                         `<pre tabindex="0" class="chroma"><code><span class="kd">var</span>`,
		"```\n<b>\n```":                                                                       "<pre tabindex=\"0\" class=\"chroma\"><code>&lt;b&gt;\n</code></pre>\n",
		"|a|\n|:-:|\n|b|":                                                                     `<th align="center">a</th>`,
		"https://example.com/x":                                                               `href="https://example.com/x"`,
		"~~gone~~":                                                                            "<del>gone</del>",
	} {
		if got := r.Render(source); !strings.Contains(got, want) {
			t.Errorf("%q\ngives %q\nwithout %q", source, got, want)
		}
	}
}

// TestRenderHostile shows texts that try to run or load something.
func TestRenderHostile(t *testing.T) {
	r := NewRenderer("/releases")
	for _, source := range []string{
		"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<img src=javascript:alert(1) alt='<script>alert(1)</script>'>",
		"<img alt=y src='x&quot; onerror=alert(1)'>", "<svg/onload=alert(1)>", "[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))",
		"[x](data:text/html,<script>)",
		"<a href=\"javascript:alert(1)\">x</a>", "<a href=\" &#14; javascript:alert(1)\">x</a>", "<iframe src=https://evil.example></iframe>",
		"<form action=https://evil.example><input name=p></form>",
		"<style>@import 'https://evil.example'</style>", "<p style=\"background:url(https://evil.example)\">x</p>",
		"<link rel=stylesheet href=https://evil.example>", "<base href=https://evil.example>",
		"<meta http-equiv=refresh content=\"0;url=https://evil.example\">", "<object data=https://evil.example></object>",
		"<embed src=https://evil.example>", "<video src=https://evil.example autoplay>",
		"<audio src=https://evil.example>", "<math><mtext></p><style><img src=x onerror=alert(1)></style></mtext></math>",
		"<div onmouseover=alert(1)>x</div>", "<details open ontoggle=alert(1)>x</details>",
		"![x](javascript:alert(1))", "![x](https://evil.example/pixel.gif)", "<input autofocus onfocus=alert(1)>", "<x id=login name=x>",
		"```<script>\n</code></pre><script>alert(1)</script>\n```",
		"```html\n</code></pre><img src=x onerror=alert(1)>\n```", "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
		"[x](vbscript:msgbox(1))", "<a href=\"//evil.example\" target=x>y</a>", "`<img src=x onerror=alert(1)>`",
	} {
		got := strings.ToLower(r.Render(source) +
			r.RenderNotes(source, NewPage("https://codehost.example/acme/engine/releases/tag/v1", "acme/engine")))
		for _, bad := range []string{"<script", "<img", "<svg", "<iframe", "<form", "<input", "<style", "<link", "<base", "<meta", "<object",
			"<embed", "<video", "<audio", "javascript:", "vbscript:", "data:text", " style=", " id=", " name="} {
			if strings.Contains(got, bad) {
				t.Errorf("%q\ngives %q, which has %s", source, got, bad)
			}
		}
		for _, handler := range []string{" onerror=", " onload=", " onmouseover=", " ontoggle=", " onfocus="} {
			if i := strings.Index(got, handler); i >= 0 && strings.LastIndex(got[:i], "&lt;") <= strings.LastIndex(got[:i], "<") {
				t.Errorf("%q\ngives %q, which has%s", source, got, handler)
			}
		}
	}
}
