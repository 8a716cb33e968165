package libdnsadapter_test

import (
	"context"

	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/dns/libdnsadapter"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Config is the config block of an instance in plugin.hcl.
type Config struct {
	Token schema.Secret `patchbay:"token,required" doc:"Token of the API."`
}

// A whole plugin for a vendor that libdns has a provider for. memory stands for its Provider, and main would be
// framework.Serve(plugin()).
func Example() {
	plugin := func() framework.Plugin {
		build := func(_ dns.Instance, cfg Config) (dns.Open, schema.Diagnostics) {
			return func(context.Context) (dns.Provider, error) {
				vendor := &memory{Token: cfg.Token.Reveal(), zones: []string{"example.com."}}
				return libdnsadapter.New(libdnsadapter.Config{Provider: vendor, Secrets: []schema.Secret{cfg.Token}})
			}, nil
		}
		kind := dns.New(dns.Definition[Config]{Build: build})
		return framework.Plugin{Name: "memory", Version: "0.1.0", Summary: "Keeps records in memory.", Kinds: []framework.Kind{kind}}
	}
	_ = plugin
}
