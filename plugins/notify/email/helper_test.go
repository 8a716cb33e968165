package email_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/plugins/notify/email"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// block is a config block from members; those without a value are left out.
func block(t testing.TB, members map[string]string) string {
	t.Helper()
	for name, value := range members {
		if value == "" {
			delete(members, name)
		}
	}
	raw, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// nearby permits servers on this machine, where those of the tests are.
const nearby = `"allow_hosts":["0.0.0.0/0","localhost"]`

// withNearby adds nearby to a config block.
func withNearby(config string) string {
	return strings.Replace(strings.TrimSuffix(config, "}")+","+nearby+"}", "{,", "{", 1)
}

// client configures an instance that may reach this machine and calls it over the wire. The buffer holds all that it logs.
func client(t *testing.T, config string) (*notify.Client, *bytes.Buffer) {
	t.Helper()
	return guardedClient(t, withNearby(config))
}

// guardedClient is client for an instance that reaches what its configuration permits.
func guardedClient(t *testing.T, config string) (*notify.Client, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	l := plugintest.LoadWith(t, email.Plugin(), hclog.New(&hclog.LoggerOptions{Output: &out, Level: hclog.Trace}))
	return notify.NewClient(l.Conn, l.Configure(t, plugintest.Config(t, notify.Kind, "ops", config))), &out
}

func to(url string) notify.Target { return notify.Target{Secret: schema.Secret(url)} }

func finished() *notify.Notification {
	return &notify.Notification{
		ID: "n-1", Kind: "job_finished", Version: 2, SentAt: time.Unix(1_700_000_000, 0), Severity: notify.Success,
		Title:   notify.Text{Plain: "更新完成（成功）：商店 <web> & 🚀 很长的服务名称，为了让主题分成几行"},
		Summary: notify.Text{Plain: "商店 / web 服务已更新 (1.2 -> 1.3)。\n第二行"},
		Detail:  notify.Text{Plain: "detail", HTML: `<p onclick="x()">One <b>two</b></p><img src="https://example.com/x.png"><script>bad()</script><a href="javascript:x()">no</a>`},
		Links:   []notify.Link{{Label: "服务", URL: "https://example.com/s?a=1&b=2"}, {Label: "Job", URL: "/queue/1"}},
	}
}

// read takes a mail apart: its texts by media type.
func read(t *testing.T, header mail.Header, raw []byte) map[string]string {
	t.Helper()
	kind, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("content type %q, %v", header.Get("Content-Type"), err)
	}
	m, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	parts := multipart.NewReader(m.Body, params["boundary"])
	out := map[string]string{}
	for {
		p, err := parts.NextRawPart()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		kind, params, err := mime.ParseMediaType(p.Header.Get("Content-Type"))
		if err != nil || !strings.EqualFold(params["charset"], "utf-8") {
			t.Fatalf("part %v, %v", p.Header, err)
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
		out[kind] = strings.ReplaceAll(string(text), "\r\n", "\n")
	}
}

// script is an SMTP server that answers by a table: the first word of a command, or "." for the end of the text. An answer
// "hang" waits until the client goes away, "drop" ends the connection.
func script(t *testing.T, network string, answers map[string]string) string {
	t.Helper()
	l, err := net.Listen("tcp", network+":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go play(conn, answers)
		}
	}()
	return l.Addr().String()
}

func play(conn net.Conn, answers map[string]string) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	standard := map[string]string{
		"greeting": "220 ready", "EHLO": "250-hello\r\n250 8BITMIME", "MAIL": "250 ok", "RCPT": "250 ok", "DATA": "354 go on",
		".": "250 2.0.0 taken", "QUIT": "221 bye",
	}
	answer := func(word string) bool {
		text, ok := answers[word]
		if !ok {
			text = standard[word]
		}
		switch text {
		case "hang":
			_, _ = io.Copy(io.Discard, r)
			return false
		case "drop":
			return false
		case "":
			text = "502 unknown"
		}
		_, err := io.WriteString(conn, text+"\r\n")
		return err == nil
	}
	if !answer("greeting") {
		return
	}
	for text := false; ; {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		if text && line != "." {
			continue
		}
		word, _, _ := strings.Cut(strings.ToUpper(line), " ")
		text = word == "DATA"
		if !answer(word) {
			return
		}
	}
}
