package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// arrival is one request that came to a receiver.
type arrival struct {
	path, body string
	header     http.Header
	at         time.Time
	// code is what it is answered with.
	code int
}

// receiver takes posts, keeps them and answers as it is told.
type receiver struct {
	*httptest.Server
	host string

	mu   sync.Mutex
	got  []arrival
	code int
	// says is the body of its answers, made from the request; nil means an empty object.
	says func(arrival) string
	// hold lets requests wait before they are answered.
	hold chan struct{}
}

func newReceiver(t testing.TB) *receiver {
	t.Helper()
	r := &receiver{code: http.StatusOK}
	r.Server = httptest.NewServer(http.HandlerFunc(r.serve))
	r.host = strings.TrimPrefix(r.URL, "http://")
	t.Cleanup(func() {
		r.release()
		r.Close()
	})
	return r
}

func (r *receiver) serve(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return
	}
	r.mu.Lock()
	one := arrival{q.URL.Path, string(body), q.Header.Clone(), time.Now(), r.code}
	r.got = append(r.got, one)
	code, says, hold := r.code, r.says, r.hold
	r.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-q.Context().Done():
			return
		}
	}
	text := "{}"
	if says != nil {
		text = says(one)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text)
}

// answers sets what it answers from now on.
func (r *receiver) answers(code int, says func(arrival) string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.code, r.says = code, says
}

// holds keeps requests waiting from now on, until release.
func (r *receiver) holds() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hold = make(chan struct{})
}

func (r *receiver) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hold != nil {
		close(r.hold)
		r.hold = nil
	}
}

func (r *receiver) all() []arrival {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]arrival(nil), r.got...)
}

// last is the newest post.
func (r *receiver) last(t testing.TB) arrival {
	t.Helper()
	all := r.all()
	if len(all) == 0 {
		t.Fatal("nothing arrived")
	}
	return all[len(all)-1]
}

// served validates a payload by the schema that it names, as the core serves it.
func (c *core) served(t testing.TB, payload []byte) {
	t.Helper()
	var named struct{ Schema string }
	if err := json.Unmarshal(payload, &named); err != nil || named.Schema == "" {
		t.Fatalf("the payload names no schema: %v: %s", err, payload)
	}
	a := c.api(t, http.MethodGet, "/schemas/"+named.Schema, "", http.StatusOK)
	schema, err := jsonschema.UnmarshalJSON(strings.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	at := "https://example.com/schemas/" + named.Schema
	if err := compiler.AddResource(at, schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile(at)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(payload))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiled.Validate(doc); err != nil {
		t.Errorf("the payload is not what %s says: %v\n%s", named.Schema, err, payload)
	}
}

// letter is a mail taken apart.
type letter struct{ subject, plain, html string }

// openLetter decodes the subject and the two texts of a mail.
func openLetter(t testing.TB, raw []byte) (out letter) {
	t.Helper()
	m, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if out.subject, err = new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject")); err != nil {
		t.Fatal(err)
	}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("the mail is %q, %v", kind, err)
	}
	parts := multipart.NewReader(m.Body, params["boundary"])
	for {
		p, err := parts.NextRawPart()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		var body io.Reader = p
		switch strings.ToLower(p.Header.Get("Content-Transfer-Encoding")) {
		case "base64":
			body = base64.NewDecoder(base64.StdEncoding, p)
		case "quoted-printable":
			body = quotedprintable.NewReader(p)
		}
		text, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(p.Header.Get("Content-Type"), "text/html") {
			out.html = string(text)
		} else {
			out.plain = string(text)
		}
	}
}

// letter shows the HTML of a mail in a page that runs nothing and asks for nothing.
func (b *browser) letter(html string, width int) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(int64(width), 900),
		chromedp.Navigate("data:text/html;charset=utf-8;base64,"+base64.StdEncoding.EncodeToString([]byte(html))))
}
