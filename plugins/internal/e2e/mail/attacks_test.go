package mail

import (
	"encoding/base64"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/smtp"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
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
	c := kit.StartCore(t, kit.MailHCL)
	m := &mailCore{Core: c, key: strings.TrimSpace(c.User("ada@example.com", "member"))}
	m.api(t, http.MethodPost, "mailboxes", `{"localPart":"box","mailDomain":"mail.localhost"}`, http.StatusCreated)
	paths := m.sendVectors(t, vectors)

	b := kit.Browse(t, c)
	// Only the page of a message may have frames.
	b.Open("/mail/inbox?message=" + path.Base(path.Dir(paths[0])))
	names := make([]string, len(vectors))
	for i, v := range vectors {
		names[i] = v.Name
	}
	b.CheckFrames(t, names, paths, "allow-same-origin allow-popups allow-popups-to-escape-sandbox")

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
	b = kit.Browse(t, &kit.Core{Base: alone.URL})
	b.Open("/")
	clean := make([]string, len(vectors))
	for i := range clean {
		clean[i] = "/clean/" + strconv.Itoa(i)
	}
	b.CheckFrames(t, names, clean, "")

	b = kit.Browse(t, &kit.Core{Base: alone.URL})
	b.Expect("") // all of it is expected here
	b.Open("/")
	live, err := kit.Evaluate[int](b, fmt.Sprintf(`(async () => {
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

// sendVectors sends a message with the HTML of each vector, and returns the paths of what is shown of them.
func (m *mailCore) sendVectors(t *testing.T, vectors []xsstest.Vector) []string {
	t.Helper()
	client, err := smtp.Dial(m.SMTPAddress())
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
