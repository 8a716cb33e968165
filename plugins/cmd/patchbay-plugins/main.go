// Command patchbay-plugins holds all built-in plugins. The core starts it with the name of one, such as search/local;
// "list" prints the names as JSON.
package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/patchbay-dev/patchbay/plugins/codehost/feed"
	"github.com/patchbay-dev/patchbay/plugins/codehost/gitea"
	"github.com/patchbay-dev/patchbay/plugins/codehost/github"
	"github.com/patchbay-dev/patchbay/plugins/dns/cloudflare"
	"github.com/patchbay-dev/patchbay/plugins/dns/manual"
	"github.com/patchbay-dev/patchbay/plugins/dns/powerdns"
	"github.com/patchbay-dev/patchbay/plugins/dns/rfc2136"
	"github.com/patchbay-dev/patchbay/plugins/engine/docker"
	"github.com/patchbay-dev/patchbay/plugins/notify/email"
	"github.com/patchbay-dev/patchbay/plugins/notify/shoutrrr"
	"github.com/patchbay-dev/patchbay/plugins/notify/telegram"
	"github.com/patchbay-dev/patchbay/plugins/notify/webhook"
	"github.com/patchbay-dev/patchbay/plugins/notify/webpush"
	"github.com/patchbay-dev/patchbay/plugins/registry/oci"
	"github.com/patchbay-dev/patchbay/plugins/search/local"
	"github.com/patchbay-dev/patchbay/plugins/search/searxng"
	"github.com/patchbay-dev/patchbay/plugins/search/tavily"
	"github.com/patchbay-dev/patchbay/plugins/translator/echo"
	"github.com/patchbay-dev/patchbay/plugins/translator/openai"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/tracing/otlp"
)

func builtin() map[string]func() framework.Plugin {
	return map[string]func() framework.Plugin{
		"codehost/feed":     feed.Plugin,
		"codehost/gitea":    gitea.Plugin,
		"codehost/github":   github.Plugin,
		"dns/cloudflare":    cloudflare.Plugin,
		"dns/manual":        manual.Plugin,
		"dns/powerdns":      powerdns.Plugin,
		"dns/rfc2136":       rfc2136.Plugin,
		"engine/docker":     docker.Plugin,
		"notify/email":      email.Plugin,
		"notify/telegram":   telegram.Plugin,
		"notify/shoutrrr":   shoutrrr.Plugin,
		"notify/webhook":    webhook.Plugin,
		"notify/webpush":    webpush.Plugin,
		"registry/oci":      oci.Plugin,
		"search/local":      local.Plugin,
		"search/searxng":    searxng.Plugin,
		"search/tavily":     tavily.Plugin,
		"translator/echo":   echo.Plugin,
		"translator/openai": openai.Plugin,
	}
}

func main() {
	if status, ok := docker.Helper(os.Args[1:]); ok {
		os.Exit(status)
	}
	names := slices.Sorted(maps.Keys(builtin()))
	if len(os.Args) >= 2 {
		if os.Args[1] == "list" {
			_ = json.NewEncoder(framework.Stdout()).Encode(names)
			return
		}
		if plugin := builtin()[os.Args[1]]; plugin != nil {
			framework.Serve(plugin(), framework.WithTraces(otlp.Open))
			return
		}
	}
	fmt.Fprintf(os.Stderr, "patchbay-plugins holds the built-in plugins of Patchbay; the core starts it.\nusage: patchbay-plugins list | PLUGIN [describe]\nplugins: %v\n", names)
	os.Exit(2)
}
