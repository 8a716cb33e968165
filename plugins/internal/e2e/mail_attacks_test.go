package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/smtp"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/xsstest"
)

// leastLive is how many vectors a browser of today must run if nothing stops them: else the test would show nothing.
const leastLive = 20

// styleAttacks are style sheets that load from other sites, or try to.
var styleAttacks = []string{
	`@import "https://evil.localhost/a.css";`, `@\69mport url(https://evil.localhost/b.css);`, `@/**/import "https://evil.localhost/c.css";`,
	`@charset "utf-8"; @import url("//evil.localhost/d.css");`,
	`.a{background:url(https://evil.localhost/e.png)}`, `.a{background:\75\72\6c(https://evil.localhost/f.png)}`,
	`.a{background:u/**/rl(https://evil.localhost/g.png)}`, `.a{--x:url(https://evil.localhost/h.png);background:var(--x)}`,
	`.a{background:image-set("https://evil.localhost/i.png" 1x)}`, `.a{background:-webkit-image-set(url(https://evil.localhost/j.png) 1x)}`,
	`.a::before{content:url(https://evil.localhost/k.png)}`, `.a{cursor:url(https://evil.localhost/l.cur),auto}`,
	`@font-face{font-family:m;src:url(https://evil.localhost/m.woff2)}.a{font-family:m}`,
	`.a{list-style:url(https://evil.localhost/n.png);display:list-item}`,
	`.a{mask:url(https://evil.localhost/o.svg#a);filter:url(https://evil.localhost/p.svg#a)}`,
	`@supports (display:block){@media all{.a{background:url('https://evil.localhost/q.png')}}}`,
	`.a{b:"\a";}</style><img src=x onerror="parent.ran=1">`, `.a{position:fixed;inset:0}`,
	`.a{-moz-binding:url(https://evil.localhost/r.xml#a);behavior:url(s.htc)}`,
}

// TestMailHTMLHoldsAttacks: of the HTML of messages that try everything, no script runs, no request leaves and no frame is led
// away: neither as the reader shows it, nor where the sanitised HTML stands alone, without a policy and without a sandbox.
func TestMailHTMLHoldsAttacks(t *testing.T) {
	t.Parallel()
	vectors := xsstest.Vectors(t)
	for _, sheet := range styleAttacks {
		vectors = append(vectors, xsstest.Vector{Name: sheet,
			HTML: "<style>" + sheet + `</style><p class="a" style="` + html.EscapeString(sheet) + `">text</p>`})
	}
	c := startCore(t, mailHCL)
	m := &mailCore{core: c, key: strings.TrimSpace(c.user("ada@example.com", "member"))}
	m.api(t, http.MethodPost, "mailboxes", `{"localPart":"box","mailDomain":"mail.localhost"}`, http.StatusCreated)
	paths := m.sendVectors(t, vectors)

	b := browse(t, c)
	// Only the page of a message may have frames.
	b.open("/mail/inbox?message=" + path.Base(path.Dir(paths[0])))
	names := make([]string, len(vectors))
	for i, v := range vectors {
		names[i] = v.Name
	}
	b.checkFrames(t, names, paths, "allow-same-origin allow-popups allow-popups-to-escape-sandbox")

	alone := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		kind, number, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		switch kind {
		case "clean":
			i, _ := strconv.Atoi(number)
			_, body, _ := m.tryAPI(http.MethodGet, strings.TrimPrefix(paths[i], "/mail/api/"), "")
			_, _ = w.Write(body)
		case "raw":
			i, _ := strconv.Atoi(number)
			_, _ = w.Write([]byte("<!doctype html><body>" + vectors[i].HTML))
		case "favicon.ico":
			w.WriteHeader(http.StatusNoContent)
		default:
			_, _ = w.Write([]byte("<!doctype html><title>Frames</title><body>"))
		}
	}))
	t.Cleanup(alone.Close)
	b = browse(t, &core{base: alone.URL})
	b.open("/")
	clean := make([]string, len(vectors))
	for i := range clean {
		clean[i] = "/clean/" + strconv.Itoa(i)
	}
	b.checkFrames(t, names, clean, "")

	b = browse(t, &core{base: alone.URL})
	b.expect("") // all of it is expected here
	b.open("/")
	live, err := evaluate[int](b, fmt.Sprintf(`(async () => {
		let live = 0;
		for (let i = 0; i < %d && live < %d; i++) {
			window.ran = undefined;
			const frame = document.createElement("iframe");
			await new Promise((loaded) => { frame.onload = loaded; frame.src = "/raw/" + i; document.body.append(frame); });
			if (window.ran) live++;
			frame.remove();
		}
		return live;
	})()`, len(vectors), leastLive))
	if err != nil || live < leastLive {
		t.Errorf("%d of %d vectors run where nothing stops them, want %d: %v", live, len(vectors), leastLive, err)
	}
}

// jsonText returns a value as JSON.
func jsonText(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// sendVectors sends a message with the HTML of each vector, and returns the paths of what is shown of them.
func (m *mailCore) sendVectors(t *testing.T, vectors []xsstest.Vector) []string {
	t.Helper()
	client, err := smtp.Dial(m.smtpAddress())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for i, v := range vectors {
		if err := client.Mail("ada@example.com"); err != nil {
			t.Fatal(err)
		}
		if err := client.Rcpt("box@mail.localhost"); err != nil {
			t.Fatal(err)
		}
		w, err := client.Data()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(w, "Subject: %d\r\nMIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n%s\r\n", i, base64.StdEncoding.EncodeToString([]byte(v.HTML)))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	paths := make([]string, len(vectors))
	for _, item := range m.api(t, http.MethodGet, "messages?limit=200", "", http.StatusOK)["messages"].([]any) {
		item := item.(map[string]any)
		i, err := strconv.Atoi(item["subject"].(string))
		if err != nil || item["hasHtml"] != true {
			t.Fatalf("the message is %v", item)
		}
		paths[i] = "/mail/api/messages/" + item["id"].(string) + "/html"
	}
	return paths
}

// checkFrames shows documents in frames of the present page and looks what is left in them. The browser's own complaints fail the
// test as well: it tells of every script that it was asked to run, and of every request to another origin.
func (b *browser) checkFrames(t *testing.T, names, urls []string, sandbox string) {
	t.Helper()
	found, err := evaluate[[]string](b, `(async () => {`+xsstest.FrameScript+` return await loadFrames(`+jsonText(t, urls)+`, `+jsonText(t,
		sandbox)+`); })()`)
	if err != nil || len(found) != len(urls) {
		t.Fatalf("%d frames were loaded: %v", len(found), err)
	}
	for i, left := range found {
		if left != "" {
			t.Errorf("%s: %s", names[i], left)
		}
	}
	evaluated(b, "a script was run", `window.ran === undefined`, true)
}
