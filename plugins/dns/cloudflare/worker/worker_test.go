// Package worker_test runs the worker script with Node against a server.
package worker_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

const secret = "secret-of-the-worker"

// runner runs the worker for one message, whose raw bytes are its standard input, and prints what became of it. It works with
// Node 18, which takes no module from a file that ends in .js and has no global crypto.
const runner = `
import { readFileSync } from "node:fs";
import { webcrypto } from "node:crypto";
const [file, url, secret, from, to] = process.argv.slice(1);
globalThis.crypto ??= webcrypto;
const worker = (await import("data:text/javascript;base64," + readFileSync(file).toString("base64"))).default;
const out = {};
const message = {
  from, to,
  raw: new Blob([readFileSync(0)]).stream(),
  setReject(reason) { out.rejected = reason; },
};
try { await worker.email(message, { PATCHBAY_URL: url, PATCHBAY_SECRET: secret }); } catch (err) { out.thrown = err.message; }
console.log(JSON.stringify(out));
`

type outcome struct{ Rejected, Thrown string }

func runWorker(t *testing.T, url string, raw []byte) outcome {
	t.Helper()
	return runWorkerFor(t, url, "bounce+1@example.net", "ada@mail.example.com", raw)
}

func runWorkerFor(t *testing.T, url, from, to string, raw []byte) (out outcome) {
	t.Helper()
	node, err := exec.LookPath("node")
	testkit.Require(t, "node", err == nil, "install Node 20 or newer with npm")
	cmd := exec.CommandContext(t.Context(), node, "--input-type=module", "-e", runner, "--", "./worker.js", url, secret, from, to)
	cmd.Stdin = bytes.NewReader(raw)
	printed, err := cmd.CombinedOutput()
	if err != nil || json.Unmarshal(printed, &out) != nil {
		t.Fatalf("%v: %s", err, printed)
	}
	return out
}

// TestPosts: the bytes arrive as they were, signed, with the envelope.
func TestPosts(t *testing.T) {
	raw := []byte("From: a@example.net\r\nSubject: \xff\x00 odd\r\n\r\nline\nline\r\n" + strings.Repeat("x", 100_000))
	calls := 0
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		calls++
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != string(raw) {
			t.Errorf("%v, %d bytes came of %d", err, len(body), len(raw))
		}
		if r.Method+" "+r.URL.Path != "POST /mail/api/inbound" || r.Header.Get("Content-Type") != "message/rfc822" {
			t.Errorf("%s %s, %v", r.Method, r.URL.Path, r.Header)
		}
		timestamp := r.Header.Get("X-Patchbay-Timestamp")
		seconds, err := strconv.ParseInt(timestamp, 10, 64)
		if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
			t.Errorf("the timestamp is %q", timestamp)
		}
		hash := sha256.Sum256(body)
		content := hex.EncodeToString(hash[:])
		if got := r.Header.Get("X-Patchbay-Content-SHA256"); got != content {
			t.Errorf("the hash of the content is %q", got)
		}
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(timestamp + "\nbounce+1@example.net\nada@mail.example.com\n" + content))
		if got := r.Header.Get("X-Patchbay-Signature"); got != hex.EncodeToString(mac.Sum(nil)) {
			t.Errorf("the signature is %q", got)
		}
		if from, to := r.Header.Get("X-Patchbay-Envelope-From"), r.Header.Get("X-Patchbay-Envelope-To"); from != "bounce+1@example.net" ||
			to != "ada@mail.example.com" {
			t.Errorf("the envelope is %q, %q", from, to)
		}
	}))
	defer srv.Close()
	if out := runWorker(t, srv.URL+"/mail/", raw); out != (outcome{}) || calls != 1 {
		t.Errorf("%+v, %d calls", out, calls)
	}
}

// TestAddressesOutsideOfASCII: an envelope with addresses that a header cannot carry arrives as encoded words.
func TestAddressesOutsideOfASCII(t *testing.T) {
	var from, to string
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		from, to = r.Header.Get("X-Patchbay-Envelope-From"), r.Header.Get("X-Patchbay-Envelope-To")
	}))
	defer srv.Close()
	var words mime.WordDecoder
	for _, address := range []string{"用户@例子.广告", "josé@example.net", "👩‍🚀@example.net", "a=?b@example.net", ""} {
		from, to = "none", "none"
		if out := runWorkerFor(t, srv.URL, address, "ada@mail.example.com", []byte("Subject: x\r\n\r\n")); out != (outcome{}) {
			t.Errorf("%s: %+v", address, out)
		}
		decoded := from
		if strings.HasPrefix(from, "=?") {
			var err error
			if decoded, err = words.Decode(from); err != nil {
				t.Errorf("%s: %v", address, err)
			}
		}
		if decoded != address || to != "ada@mail.example.com" || strings.ContainsFunc(from, func(r rune) bool { return r > '~' }) {
			t.Errorf("%s came as %q, for %q", address, from, to)
		}
	}
}

// TestOutcomes: mail is rejected only where the mail service itself says so; all else makes the sender try again.
func TestOutcomes(t *testing.T) {
	status, body := 0, ""
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	defer srv.Close()
	for _, tt := range []struct {
		status   int
		body     string
		rejected bool
	}{
		{404, `{"code":"recipient_unknown","message":"No."}`, true},
		{410, `{"code":"mailbox_expired","message":"No."}`, true},
		{413, `{"code":"payload_too_large","message":"No."}`, true},
		{404, `{"code":"not_found","message":"No such route."}`, false},
		{404, `<html>nginx</html>`, false},
		{401, `{"code":"invalid_signature","message":"No."}`, false},
		{503, `{"code":"not_ready","message":"Later."}`, false},
		{302, ``, false},
	} {
		status, body = tt.status, tt.body
		out := runWorker(t, srv.URL, []byte("Subject: x\r\n\r\n"))
		if (out.Rejected != "") != tt.rejected || (out.Thrown != "") == tt.rejected {
			t.Errorf("%d %s: %+v", tt.status, tt.body, out)
		}
	}
	srv.Close()
	if out := runWorker(t, srv.URL, []byte("Subject: x\r\n\r\n")); out.Thrown == "" || out.Rejected != "" {
		t.Errorf("without a server: %+v", out)
	}
}
