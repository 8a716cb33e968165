package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
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

// TestMailHTMLHoldsAttacks: of the HTML of messages that try everything, no script runs, no request leaves and no frame is led
// away: neither as the reader shows it, nor where the sanitised HTML stands alone, without a policy and without a sandbox.
func TestMailHTMLHoldsAttacks(t *testing.T) {
	t.Parallel()
	vectors := xsstest.Vectors(t)
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
			for _, path := range paths {
				_, body, _ := m.tryAPI(http.MethodGet, strings.TrimPrefix(path, "/mail/api/"), "")
				_, _ = w.Write(body)
			}
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
	b.checkFrames(t, []string{"all vectors, sanitised"}, []string{"/clean"}, "")

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
	found, err := evaluate[[]string](b, `(async () => {`+xsstest.FrameScript+` return await loadFrames(`+jsonText(t, urls)+`, `+jsonText(t, sandbox)+`); })()`)
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
