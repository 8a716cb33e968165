package documents

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

var (
	hclBlock = regexp.MustCompile("(?s)```hcl\n(.*?)```")
	// reference is the name of an instance, such as search.docs.
	reference = regexp.MustCompile(`\b(search|dns|notify|codehost|translator|engine|registry)\.([a-z]+)\b`)
)

// referredInstances are declared beside the blocks that refer to them.
var referredInstances = map[string]string{
	"search.web":       `search "tavily" "web" {}`,
	"search.docs":      "search \"local\" \"docs\" {\n  config { folders = [\"docs\"] }\n}",
	"dns.main":         `dns "manual" "main" {}`,
	"notify.ops":       `notify "webhook" "ops" {}`,
	"codehost.hub":     `codehost "github" "hub" {}`,
	"codehost.forge":   "codehost \"gitea\" \"forge\" {\n  config { base_url = \"https://codeberg.org\" }\n}",
	"translator.main":  `translator "echo" "main" {}`,
	"engine.local":     "engine \"docker\" \"local\" {\n}",
	"registry.default": `registry "oci" "default" {}`,
}

// TestConfigurationInDocumentsIsValid checks each block of plugin.hcl on the pages for users and operators as "patchbay config check" does.
// The instances that a block refers to, and the variables and files that it names, are there.
func TestConfigurationInDocumentsIsValid(t *testing.T) {
	t.Parallel()
	c := kit.LocalCore(t, "", "BOT_TOKEN=123456789:"+strings.Repeat("A", 35), "PDNS_API_KEY=pdns", "CLOUDFLARE_API_TOKEN=token",
		"OPS_WEBHOOK_URL=https://example.com/hook", "SMTP_URL=smtp://a:b@example.com/?to=a@example.org&from=b@example.org",
		"NTFY_URL=ntfy://ntfy.sh/topic", "TSIG_SECRET=dGVzdHRlc3R0ZXN0dGVzdA==", "DATABASE_URL=postgres://localhost/patchbay",
		"OPENAI_API_KEY=key", "SVC_AUTH_PROXY_SECRET="+kit.ProxySecret, "NOTIFICATION_URL=ntfy://ntfy.sh/topic", "GITHUB_CLIENT_SECRET=secret",
		"RELEASES_WEBHOOK_URL=https://example.com/hook", "SVC_SECRET_KEY="+base64.StdEncoding.EncodeToString(make([]byte, 32)))
	kit.Must(t, os.Mkdir(filepath.Join(c.Dir, "notes"), 0o700))
	certificate, key, _ := kit.SelfSigned(t, c.Dir, "mx.example.com")
	for file, text := range map[string]string{"certs/mail-ca.pem": "", "docker/config.json": "{}",
		"secret": "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0"} {
		kit.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(c.Dir, file)), 0o700))
		if text == "" {
			kit.CopyAll(t, certificate, filepath.Join(c.Dir, file))
			continue
		}
		kit.Must(t, os.WriteFile(filepath.Join(c.Dir, file), []byte(text), 0o600))
	}
	places := strings.NewReplacer("/srv/wiki", "docs", "/run/secrets/ops", "secret", "/etc/ssl/mx.crt", certificate, "/etc/ssl/mx.key", key,
		"/var/backups/patchbay", "backups", "/srv/stacks", filepath.Join(c.Dir, "docs"),
		"engine \"docker\" \"local\" {}", referredInstances["engine.local"], "0.0.0.0:25", "127.0.0.1:0", "127.0.0.1:50883", "127.0.0.1:0",
		"127.0.0.1:50885", "127.0.0.1:0", "RW…", "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3")
	checked := 0
	for _, page := range slices.Concat(runPages, usePages) {
		text, err := os.ReadFile(filepath.Join(kit.Root(), "core/docs", page))
		kit.Must(t, err)
		for _, m := range hclBlock.FindAllStringSubmatch(string(text), -1) {
			if strings.HasPrefix(m[1], `plugin "`) {
				continue // needs a program and its digest
			}
			hcl := places.Replace(m[1])
			for _, r := range reference.FindAllStringSubmatch(m[1], -1) {
				if instance := referredInstances[r[0]]; instance != "" && !strings.Contains(hcl, `" "`+r[2]+`" {`) {
					hcl += instance + "\n"
				}
			}
			c.Configure(hcl)
			checked++
			if out := c.Run("", "config", "check"); out.Status != 0 || out.Stderr != "" {
				t.Errorf("%s, status %d: %s%s\n%s", page, out.Status, out.Stdout, out.Stderr, hcl)
			}
		}
	}
	if checked < 34 {
		t.Errorf("the pages have %d blocks of plugin.hcl; have they moved?", checked)
	}
}
