// Package local is the search backend over files that the operator names. It needs no account and no network. It also
// indexes web sites that the operator names, extracts, maps and crawls web pages, and makes reports that quote what it
// finds.
//
// It keeps a full-text index, for Chinese and English, in the instance's data directory and follows changes by looking
// at size and time of every file in short intervals; a file that looks changed is indexed again if its content is
// another. Documents are cut into passages, and the best passages are what a search returns; documents with the same
// text are one result. Documents have addresses such as file:core/docs/search.md, relative to the configuration file,
// which extract accepts as well.
//
// The pages of sites are kept in files of the data directory, from which they come into the index; they have their own
// addresses. A site is visited again after a day or what the configuration says, and asked only for what has changed.
// What a visit did not find any more leaves the index; what failed stays, and so does all if the start fails.
//
// Never indexed, whatever the configuration says: files and directories whose name starts with a dot, files that by
// their name or their first line hold keys, the data directory, and what the host protects. Symbolic links inside the
// named folders are not followed.
package local

import (
	"context"
	"path/filepath"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/searchapi"
	"github.com/patchbay-dev/patchbay/plugins/internal/webops"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// Config is the config block of an instance.
type Config struct {
	Folders     []string      `patchbay:"folders" doc:"Files and directories to index, relative to the configuration file."`
	Sites       []string      `patchbay:"sites" doc:"Web sites to index as well, by start address, such as https://docs.example.org/guide/. Patchbay follows links below that folder. A site in a private network must be in allow_hosts."`
	SitePages   int           `patchbay:"site_pages,default=200" doc:"Pages to index of each site."`
	Refresh     time.Duration `patchbay:"refresh,default=24h" doc:"Time between two visits to a site; shorter after a failure."`
	Include     []string      `patchbay:"include" doc:"Index only paths that match one of these patterns, such as *.md or docs/**/*.txt."`
	Exclude     []string      `patchbay:"exclude" doc:"Skip paths that match one of these patterns, such as node_modules or *.csv."`
	MaxFileSize int64         `patchbay:"max_file_size,default=4194304" doc:"The largest file to index, in bytes. PDF and DOCX files may be eight times as large, up to 64 MiB."`
	Generated   bool          `patchbay:"generated" doc:"Index generated files as well: lock files, minified files, source maps, SVG drawings."`
	Rescan      time.Duration `patchbay:"rescan_interval,default=2s" doc:"Time between two scans for changed files; longer with very many files."`
	AllowHosts  []string      `patchbay:"allow_hosts" doc:"Private hosts, addresses or networks that sites, extract, map, crawl and research may reach, such as wiki.lan:8080 or 10.0.0.0/8."`
	Timeout     time.Duration `patchbay:"timeout,default=20s" doc:"How long to wait for a page if the call does not say."`
	Parallel    int           `patchbay:"crawl_parallel,default=2" doc:"Requests to one host at the same time, for map, crawl and sites."`
	Delay       time.Duration `patchbay:"crawl_delay,default=100ms" doc:"Time between two of these requests."`
	Pages       int           `patchbay:"crawl_pages,default=500" doc:"Most pages of one crawl, even if its limit is higher."`
}

// Plugin declares the plugin.
func Plugin() framework.Plugin {
	return framework.Plugin{
		Name:    "local",
		Version: "1.0.0",
		Summary: "Full-text search over your own files and sites, and extraction, mapping and crawling of web pages.",
		Documentation: "Indexes text, Markdown, AsciiDoc, reStructuredText, Org, HTML, notebooks, PDF, DOCX and source files in Chinese and English. Hidden files, key files and " +
			"the core's own data are never indexed. Web sites that `sites` names are indexed as well, and visited again every " +
			"`refresh`: pages that are gone leave the index; while a site cannot be reached its pages stay, and the health of " +
			"the instance says so. Map and crawl obey robots.txt; inner networks are out of reach unless " +
			"`allow_hosts` names them. Research quotes the best passages of what a search finds; no language model takes part. " +
			"Its reports are kept for an hour, in memory.",
		Kinds: []framework.Kind{search.New(Definition())},
	}
}

// Definition declares the search kind of the plugin.
func Definition() search.Definition[Config] {
	return search.Definition[Config]{
		Operations: listOperations(),
		Stream:     true,
		Index:      true,
		DataDir:    true,
		Exclusive:  true,
		Build:      buildBackend,
	}
}

const (
	maxFileSize = 64 << 20
	minRescan   = 100 * time.Millisecond
	maxRescan   = 24 * time.Hour

	maxSitePages = 5000
	minRefresh   = time.Second
	maxRefresh   = 366 * 24 * time.Hour
)

func buildBackend(inst search.Instance, cfg Config) (search.Open, schema.Diagnostics) {
	diags := checkLimits(cfg)
	rules, d := newRules(inst, cfg)
	diags = append(diags, d...)
	sites, d := newSites(cfg)
	diags = append(diags, d...)
	if len(cfg.Folders) == 0 && len(cfg.Sites) == 0 {
		diags = append(diags, schema.Errorf(schema.At("folders"), "name at least one file, directory or site")...)
	}
	roots, d := newRoots(inst.BaseDir, cfg.Folders, rules)
	diags = append(diags, d...)
	diags = append(diags, cfg.webopsConfig().Check()...)
	if diags.HasErrors() {
		return nil, diags
	}
	return func(context.Context) (search.Backend, error) { return openBackend(inst, cfg, rules, roots, sites) }, diags
}

func checkLimits(cfg Config) schema.Diagnostics {
	var diags schema.Diagnostics
	if cfg.MaxFileSize < 1 || cfg.MaxFileSize > maxFileSize {
		diags = append(diags, schema.Errorf(schema.At("max_file_size"), "max_file_size must be 1 to %d bytes", maxFileSize)...)
	}
	if cfg.Rescan < minRescan || cfg.Rescan > maxRescan {
		diags = append(diags, schema.Errorf(schema.At("rescan_interval"), "rescan_interval must be %s to %s", minRescan, maxRescan)...)
	}
	if cfg.SitePages < 1 || cfg.SitePages > maxSitePages {
		diags = append(diags, schema.Errorf(schema.At("site_pages"), "site_pages must be 1 to %d", maxSitePages)...)
	}
	if cfg.Refresh < minRefresh || cfg.Refresh > maxRefresh {
		diags = append(diags, schema.Errorf(schema.At("refresh"), "refresh must be %s to %s", minRefresh, maxRefresh)...)
	}
	return diags
}

// webopsConfig are the settings of the operations that other backends have as well.
func (c Config) webopsConfig() webops.Config {
	return webops.Config{Backend: searchapi.Local, AllowHosts: c.AllowHosts, Timeout: c.Timeout, Parallel: c.Parallel, Delay: c.Delay,
		Pages: c.Pages}
}

func indexDir(inst search.Instance) string { return filepath.Join(inst.DataDir, "index") }
