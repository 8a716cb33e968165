package deploy

import (
	"bufio"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/smtp"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// recipeHost is the name of the server in the documents.
const recipeHost = "patchbay.example.com"

// TestProxyRecipes runs the recipes of reverse-proxy.md for nginx and Caddy as they stand, but for addresses and certificates. Through
// each with TLS somebody signs in and searches, and an event arrives while its stream is open.
func TestProxyRecipes(t *testing.T) {
	t.Parallel()
	core := testkit.FreeAddress(t)
	c := kit.LocalCore(t, kit.LocalHCL+`
service "mail" {
  domains = ["mail.localhost"]
  smtp { listen = "127.0.0.1:0" }
}
`, "SVC_PUBLIC_URL=https://"+recipeHost, "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false",
		"SVC_HTTP_ADDR="+core)
	c.Launch()
	t.Cleanup(c.Stop)
	c.Logged("patchbay is ready")
	c.Key = c.CLI("user", "create", "-email", "ada@example.com", "-name", "Ada", "-role", "admin")
	token, mailbox := c.Token(), c.CLI("mailbox", "create", "-owner", "ada@example.com")
	smtpAddress := kit.SMTPListener.FindStringSubmatch(c.Logs())[1]
	recipes := map[string]func(dir, address, certificate, key string) *exec.Cmd{
		"nginx": func(dir, address, certificate, key string) *exec.Cmd {
			return kit.NginxCommand(t, dir, strings.NewReplacer("listen 443", "listen "+address, "127.0.0.1:50883", core, "/etc/ssl/patchbay.crt",
				certificate, "/etc/ssl/patchbay.key", key).Replace(kit.CodeBlock(t, "reverse-proxy.md", "nginx")))
		},
		"caddy": func(dir, address, certificate, key string) *exec.Cmd {
			_, port, err := net.SplitHostPort(address)
			kit.Must(t, err)
			return kit.CaddyCommand(t, dir, strings.NewReplacer(recipeHost+" {", "https://"+recipeHost+":"+port+" {\n\tbind 127.0.0.1\n\ttls "+
				certificate+" "+key, "127.0.0.1:50883", core).Replace(kit.CodeBlock(t, "reverse-proxy.md", "caddy")))
		},
	}
	for name, recipe := range recipes {
		t.Run(name, func(t *testing.T) {
			dir, address := t.TempDir(), testkit.FreeAddress(t)
			certificate, key, trust := kit.SelfSigned(t, dir, recipeHost)
			jar, err := cookiejar.New(nil)
			kit.Must(t, err)
			browser := &http.Client{Jar: jar, Timeout: 60 * time.Second, Transport: &http.Transport{
				TLSClientConfig: &tls.Config{RootCAs: trust}, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
					return (&net.Dialer{}).DialContext(ctx, network, address)
				}}}
			kit.StartProxy(t, browser, "https://"+recipeHost+"/system/api/meta", recipe(dir, address, certificate, key))
			checkRecipe(t, c, browser, token)
			checkEventArrives(t, browser, "https://"+recipeHost, "Your code is 428319", func(subject string) {
				kit.Must(t, smtp.SendMail(smtpAddress, nil, "shop@example.com", []string{mailbox}, newMail(mailbox, subject)))
			})
		})
	}
}

// checkRecipe signs in and searches through a proxy.
func checkRecipe(t *testing.T, c *kit.Core, browser *http.Client, token string) {
	t.Helper()
	exchange := func(method, path, body string, header ...string) (*http.Response, string) {
		t.Helper()
		req, err := http.NewRequest(method, "https://"+recipeHost+path, strings.NewReader(body))
		kit.Must(t, err)
		req.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		resp, err := browser.Do(req)
		kit.Must(t, err)
		defer resp.Body.Close()
		text := &strings.Builder{}
		_, err = bufio.NewReader(resp.Body).WriteTo(text)
		kit.Must(t, err)
		return resp, text.String()
	}
	if resp, body := exchange(http.MethodGet, "/system/api/meta", ""); resp.StatusCode != http.StatusOK ||
		!strings.Contains(body, `"available":true`) || !strings.Contains(body, "https://"+recipeHost) {
		t.Errorf("passkeys behind the proxy: %d: %s", resp.StatusCode, body)
	}
	if resp, body := exchange(http.MethodPost, "/system/api/auth/session", `{"apiKey":"`+c.Key+`"}`); resp.StatusCode/100 != 2 ||
		len(resp.Cookies()) != 1 || !resp.Cookies()[0].Secure {
		t.Fatalf("sign in: %d, %v: %s", resp.StatusCode, resp.Cookies(), body)
	}
	if resp, body := exchange(http.MethodGet, "/system", "", "Accept", "text/html"); resp.StatusCode != http.StatusOK {
		t.Errorf("the console: %d: %.300s", resp.StatusCode, body)
	}
	if resp, body := exchange(http.MethodPost, "/search/api/proxy/search", `{"query":"plugins"}`, "Authorization",
		"Bearer "+token); resp.StatusCode != http.StatusOK {
		t.Errorf("search: %d: %s", resp.StatusCode, body)
	}
	if resp, body := exchange(http.MethodPost, "/search/api/proxy/search", `{"query":"`+strings.Repeat("a", 2<<20)+`"}`, "Authorization",
		"Bearer "+token); resp.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(body, "payload_too_large") {
		t.Errorf("a large body is not refused by the core: %d: %.300s", resp.StatusCode, body)
	}
}

// newMail returns a message to a mailbox.
func newMail(mailbox, subject string) []byte {
	return []byte("From: shop@example.com\r\nTo: " + mailbox + "\r\nSubject: " + subject + "\r\n\r\nHello.\r\n")
}

// checkEventArrives expects an event of a message while its stream is open, which send sends with that subject.
func checkEventArrives(t *testing.T, browser *http.Client, base, subject string, send func(subject string)) {
	t.Helper()
	resp, err := browser.Get(base + "/mail/api/messages/events")
	kit.Must(t, err)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("events: %d, %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	send(subject)
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if strings.Contains(lines.Text(), subject) {
			return
		}
	}
	t.Errorf("the stream ended without the event: %v", lines.Err())
}
