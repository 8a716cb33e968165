package notify

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/http"
	"net/mail"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// setAnswer sets what it answers from now on.
func setAnswer(r *kit.Receiver, code int, says func(kit.Arrival) string) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.Code, r.Says = code, says
}

func listArrivals(r *kit.Receiver) []kit.Arrival {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	return append([]kit.Arrival(nil), r.Got...)
}

// lastArrival is the newest post.
func lastArrival(t testing.TB, r *kit.Receiver) kit.Arrival {
	t.Helper()
	all := listArrivals(r)
	if len(all) == 0 {
		t.Fatal("nothing arrived")
	}
	return all[len(all)-1]
}

// validatePayload validates a payload by the schema that it names, as the core serves it.
func validatePayload(t testing.TB, c *kit.Core, payload []byte) {
	t.Helper()
	var named struct{ Schema string }
	if err := json.Unmarshal(payload, &named); err != nil || named.Schema == "" {
		t.Fatalf("the payload names no schema: %v: %s", err, payload)
	}
	a := c.API(t, http.MethodGet, "/schemas/"+named.Schema, "", http.StatusOK)
	schema, err := jsonschema.UnmarshalJSON(strings.NewReader(a.Body))
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

// showLetter shows the HTML of a mail in a page that runs nothing and asks for nothing.
func showLetter(b *kit.Browser, html string, width int) {
	b.T.Helper()
	b.Do(chromedp.EmulateViewport(int64(width), 900),
		chromedp.Navigate("data:text/html;charset=utf-8;base64,"+base64.StdEncoding.EncodeToString([]byte(html))))
}
