package main

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
	"github.com/patchbay-dev/patchbay/sdk/registry"
	"github.com/patchbay-dev/patchbay/sdk/search"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// redirected is how a plugin is led to another port.
type redirected struct {
	// none says why the plugin has no client for HTTP.
	none string
	// config has the address of the server that leads on as %[1]s, and its host and port as %[2]s.
	config string
	call   func(ctx context.Context, conn *grpc.ClientConn, id string) error
}

func listReleases(ctx context.Context, conn *grpc.ClientConn, id string) error {
	_, err := codehost.NewClient(conn, id).ListReleases(ctx, "a-token", "owner/name", codehost.PageRequest{})
	return err
}

func listZones(ctx context.Context, conn *grpc.ClientConn, id string) error {
	_, err := dns.NewClient(conn, id).ListZones(ctx)
	return err
}

// invoke performs an operation of a search backend.
func invoke(operation, body string) func(context.Context, *grpc.ClientConn, string) error {
	return func(ctx context.Context, conn *grpc.ClientConn, id string) error {
		c := search.NewClient(conn, id, 0)
		defer c.Close()
		reply, err := c.Invoke(ctx, &search.Request{Operation: operation,
			Body: []byte(strings.ReplaceAll(body, "HOST", ctx.Value(hostKey{}).(string))), Credential: "a-key"})
		if err != nil {
			return err
		}
		defer reply.Release()
		return fmt.Errorf("status %d: %s", reply.Status, reply.Body)
	}
}

// send sends a notification to a target.
func send(target string) func(context.Context, *grpc.ClientConn, string) error {
	return func(ctx context.Context, conn *grpc.ClientConn, id string) error {
		_, err := notify.NewClient(conn, id).Send(ctx, &notify.Notification{
			ID: "n", Kind: "patchbay.test", Version: 1, SentAt: time.Now(), Title: notify.Text{Plain: "a title"},
			Summary: notify.Text{Plain: "a summary"},
		}, notify.Target{JSON: []byte(target)})
		return err
	}
}

// redirects has every built-in plugin.
func redirects() map[string]redirected {
	return map[string]redirected{
		"codehost/feed":   {config: `{"url":"%[1]s/{repo}.atom"}`, call: listReleases},
		"codehost/gitea":  {config: `{"base_url":"%[1]s"}`, call: listReleases},
		"codehost/github": {config: `{"base_url":"%[1]s"}`, call: listReleases},
		"dns/cloudflare": {config: `{"api_token":"a-token","account_id":"0123456789abcdef0123456789abcdef","base_url":"%[1]s"}`,
			call: listZones},
		"dns/manual":      {none: "it has no client"},
		"dns/powerdns":    {config: `{"api_url":"%[1]s","api_key":"a-key","name_servers":["ns.example.com"]}`, call: listZones},
		"dns/rfc2136":     {none: "it speaks DNS"},
		"engine/docker":   {none: "it speaks to one engine, whose client follows no redirect"},
		"notify/email":    {none: "it speaks SMTP"},
		"notify/shoutrrr": {config: `{"urls":["ntfy://%[2]s/topic?scheme=http"]}`, call: send("")},
		"notify/telegram": {config: `{"bot_token":"123456789:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","chat_id":"1","base_url":"%[1]s","allow_hosts":["%[2]s"]}`, call: send(`{}`)},
		"notify/webhook":  {config: `{"url":"%[1]s/hook","allow_hosts":["%[2]s"]}`, call: send(`{}`)},
		"notify/webpush":  {none: "it has a test of its own, with the keys of a subscription; its client is that of webhook"},
		"registry/oci": {config: `{}`, call: func(ctx context.Context, conn *grpc.ClientConn, id string) error {
			_, err := registry.NewClient(conn, id).Tags(ctx, registry.TagsRequest{Repository: ctx.Value(hostKey{}).(string) + "/app", Limit: 10})
			return err
		}},
		"search/local":    {config: `{"folders":["."],"allow_hosts":["%[2]s"]}`, call: invoke(search.OpExtract, `{"urls":["http://HOST/page"]}`)},
		"search/searxng":  {config: `{"base_url":"%[1]s"}`, call: invoke(search.OpSearch, `{"query":"q"}`)},
		"search/tavily":   {config: `{"base_url":"%[1]s"}`, call: invoke(search.OpSearch, `{"query":"q"}`)},
		"translator/echo": {none: "it has no client"},
		"translator/openai": {config: `{"base_url":"%[1]s","models":["m"],"retries":0}`,
			call: func(ctx context.Context, conn *grpc.ClientConn, id string) error {
				_, err := translator.NewClient(conn, id).Translate(ctx,
					translator.Request{Task: translator.Translate, TargetLanguage: "zh", Parts: []translator.Part{{Name: "1", Text: "t"}}})
				return err
			}},
	}
}

// hostKey is the key of the host and port of the server that leads on.
type hostKey struct{}

// TestNoPluginFollowsARedirectInside builds every plugin's client with the address of a server on loopback in its configuration, which is
// asked, and leads to another port of this machine, which is not.
func TestNoPluginFollowsARedirectInside(t *testing.T) {
	table := redirects()
	for name, plugin := range builtin() {
		c, ok := table[name]
		if !ok {
			t.Errorf("%s is not in the table", name)
			continue
		}
		if c.none != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var asked, reached atomic.Int32
			inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
			defer inner.Close()
			outer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/robots.txt" {
					http.NotFound(w, r)
					return
				}
				asked.Add(1)
				http.Redirect(w, r, inner.URL+"/inner", http.StatusTemporaryRedirect)
			}))
			defer outer.Close()
			host := strings.TrimPrefix(outer.URL, "http://")
			fill := func(text string) string {
				return strings.NewReplacer("%[1]s", outer.URL, "%[2]s", host).Replace(text)
			}
			kind, _, _ := strings.Cut(name, "/")
			loaded := plugintest.Load(t, plugin())
			id := loaded.Configure(t, plugintest.Config(t, kind, "one", fill(c.config)))
			ctx := context.WithValue(t.Context(), hostKey{}, host)
			err := c.call(ctx, loaded.Conn, id)
			if err == nil {
				t.Error("the call has no error")
			}
			if err != nil && strings.Contains(err.Error(), "ADDRESS_REFUSED") && asked.Load() == 0 {
				t.Errorf("its own address is refused: %v", err)
			}
			if asked.Load() == 0 || reached.Load() != 0 {
				t.Errorf("its own address was asked %d times and another port %d times: %v", asked.Load(), reached.Load(), err)
			}
		})
	}
	for name := range table {
		if builtin()[name] == nil {
			t.Errorf("%s is no plugin", name)
		}
	}
}

// TestOnlyOneHTTPClient: no plugin makes a client besides that of plugins/internal/httpx, whose guard is on by default.
func TestOnlyOneHTTPClient(t *testing.T) {
	made := regexp.MustCompile(`http\.(Client|Transport)\{|http\.Default(Client|Transport)|http\.(Get|Post|Head|PostForm)\(`)
	// These hand the client on, or bound that of a library.
	known := []string{"internal/oauthflow/oauthflow.go", "notify/shoutrrr/redirect.go"}
	top := filepath.Join("..", "..")
	for kind := range maps.Keys(builtin()) {
		known = append(known, filepath.Dir(kind)) // a kind is a folder: the walk must meet it
	}
	met := map[string]bool{}
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(top, path)
		met[name] = true
		if d.IsDir() {
			if folder := filepath.Base(name); name == "internal/httpx" || name == "internal/bench" || name == "internal/e2e" ||
				name == "internal/giteaserver" || strings.HasSuffix(folder, "test") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || slices.Contains(known, name) {
			return nil
		}
		text, err := os.ReadFile(path)
		if at := made.Find(text); at != nil {
			t.Errorf("%s has %s: use plugins/internal/httpx, and name the addresses of the configuration as Own", name, at)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range known {
		if !met[name] {
			t.Errorf("%s was not looked at", name)
		}
	}
}
