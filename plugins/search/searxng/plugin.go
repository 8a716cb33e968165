// Package searxng is the search backend for a SearXNG server of one's own: a metasearch engine that asks others and needs
// no account. Search goes there; extract, map, crawl and research are the plugin's own, over the pages themselves.
//
// The server must permit the JSON format: settings.yml lists json under search.formats.
package searxng

import (
	"context"
	"regexp"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/plugins/internal/searchapi"
	"github.com/patchbay-dev/patchbay/plugins/internal/webops"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// Config is the config block of an instance.
type Config struct {
	BaseURL    string        `patchbay:"base_url,required" doc:"Address of the SearXNG server, such as http://searxng:8080; a path and a private address are fine."`
	Categories []string      `patchbay:"categories" doc:"Categories to search, such as general or it; empty leaves it to the topic of a call."`
	Engines    []string      `patchbay:"engines" doc:"Engines to ask, such as duckduckgo, besides the engines of the categories."`
	Language   string        `patchbay:"language,default=all" doc:"Language of the results, such as en or zh-CN; all means any, auto lets the server guess."`
	SafeSearch int           `patchbay:"safesearch,default=0" doc:"0 shows everything, 1 hides explicit content, 2 is strict; a call may ask for 2."`
	Timeout    time.Duration `patchbay:"timeout,default=20s" doc:"How long to wait for the server, and for a page if the call does not say."`
	AllowHosts []string      `patchbay:"allow_hosts" doc:"Private hosts, addresses or networks that extract, map, crawl and research may reach, such as wiki.lan:8080 or 10.0.0.0/8."`
	Parallel   int           `patchbay:"crawl_parallel,default=2" doc:"Requests to one host at the same time, for map and crawl."`
	Delay      time.Duration `patchbay:"crawl_delay,default=100ms" doc:"Pause between two requests of map and crawl to one host."`
	Pages      int           `patchbay:"crawl_pages,default=500" doc:"Most pages of one crawl, even if its limit is higher."`
}

// Plugin declares the plugin.
func Plugin() framework.Plugin {
	return framework.Plugin{
		Name:    "searxng",
		Version: "1.0.0",
		Summary: "Web search through your SearXNG server, with extraction, mapping and crawling of pages.",
		Documentation: "Needs no keys. The server must permit JSON: in its settings.yml, `search.formats` lists `json`, and its limiter must let " +
			"this host in. Map and crawl obey robots.txt; inner networks are out of reach for pages unless `allow_hosts` names them. Research " +
			"quotes the best passages of what a search finds; no language model takes part. Its reports are kept for an hour, in memory.",
		Kinds: []framework.Kind{search.New(Definition())},
	}
}

// Definition declares the search kind of the plugin.
func Definition() search.Definition[Config] {
	return search.Definition[Config]{Operations: listOperations(), Stream: true, Build: buildBackend}
}

func buildBackend(inst search.Instance, cfg Config) (search.Open, schema.Diagnostics) {
	diags := append(checkConfig(cfg), cfg.webopsConfig().Check()...)
	if diags.HasErrors() {
		return nil, diags
	}
	return func(context.Context) (search.Backend, error) { return newBackend(inst, cfg) }, diags
}

func checkConfig(cfg Config) schema.Diagnostics {
	var diags schema.Diagnostics
	if _, err := httpx.ParseBase(cfg.BaseURL); err != nil {
		diags = append(diags, schema.Errorf(schema.At("base_url"), "%v", err)...)
	}
	word := regexp.MustCompile(`^[\pL\pN][\pL\pN _.&+-]{0,63}$`)
	names := func(attr string, list []string) {
		for i, s := range list {
			if !word.MatchString(s) {
				diags = append(diags, schema.Errorf(schema.At(attr).Index(i), "%q is no name; write one in each element", s)...)
			}
		}
	}
	names("categories", cfg.Categories)
	names("engines", cfg.Engines)
	if !regexp.MustCompile(`^(auto|[a-z]{2,3}(-[A-Za-z]{2})?)$`).MatchString(cfg.Language) {
		diags = append(diags, schema.Errorf(schema.At("language"), "language must be all, auto, or a code such as en or zh-CN")...)
	}
	if cfg.SafeSearch < 0 || cfg.SafeSearch > strict {
		diags = append(diags, schema.Errorf(schema.At("safesearch"), "safesearch must be 0, 1 or 2")...)
	}
	return diags
}

// webopsConfig are the settings of the operations that other backends have as well.
func (c Config) webopsConfig() webops.Config {
	return webops.Config{Backend: searchapi.SearXNG, AllowHosts: c.AllowHosts, Timeout: c.Timeout, Parallel: c.Parallel, Delay: c.Delay,
		Pages: c.Pages}
}
