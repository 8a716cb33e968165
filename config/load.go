package config

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"

	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Env looks an environment variable up, like os.LookupEnv.
type Env func(name string) (string, bool)

// Options are the kinds, services and schemas that a file may use, and its defaults.
type Options struct {
	// Kinds are the block types of instances, such as "search".
	Kinds []string
	// Services has the schema of every service by its name.
	Services map[string]*schema.Schema
	// Storage has the schema of every kind of storage by its name.
	Storage map[string]*schema.Schema
	// DefaultStorage is used if no storage block is written.
	DefaultStorage string
	// Core, Supervisor and Backup are the schemas of those blocks.
	Core, Supervisor, Backup *schema.Schema
	// Builtins has the names of the plugins that need no plugin block, by kind. Nil leaves plugin names unchecked.
	Builtins map[string][]string
	// DefaultTimeout of an instance's calls; 30 s if 0.
	DefaultTimeout time.Duration
	// DefaultConcurrency of an instance; 128 if 0.
	DefaultConcurrency int
	// ReadFile reads plugin.hcl and what file and secret_file name. Nil reads the disk, at most 1 MiB.
	ReadFile func(path string) ([]byte, error)
	// Overlay holds texts that are read in place of the files of those absolute paths: what a file would be.
	Overlay map[string][]byte
}

func (o Options) withDefaults() Options {
	if o.DefaultTimeout == 0 {
		o.DefaultTimeout = 30 * time.Second
	}
	if o.DefaultConcurrency == 0 {
		o.DefaultConcurrency = 128
	}
	if o.ReadFile == nil {
		o.ReadFile = readFile
	}
	if len(o.Overlay) > 0 {
		o.ReadFile = overlaid(o.Overlay, o.ReadFile)
	}
	return o
}

// File is a loaded plugin.hcl.
type File struct {
	// Path is as given to Load; Dir is its absolute directory.
	Path, Dir string
	// Instances and Plugins are in the order of the file. Those with errors in their header are left out.
	Instances []*Instance
	Plugins   []*Plugin

	opts       Options
	env        Env
	src        *source
	incomplete bool
	core       *Block
	storage    *Block
	supervisor *Block
	backup     *Block
	services   []*Block

	mu      sync.Mutex
	origins map[string]string
}

// Load reads the file and decodes all blocks but the config blocks of instances. Env is nil for the process
// environment. The File is nil only if there is nothing to work with; with errors it must not be run, but it can
// still take part in finding more of them.
func Load(path string, env Env, opts Options) (*File, Diagnostics) {
	if env == nil {
		env = os.LookupEnv
	}
	f := &File{Path: path, opts: opts.withDefaults(), env: env, origins: map[string]string{}}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, ErrorAt(Range{File: path}, "Directory not found", err.Error())
	}
	f.Dir = dir
	data, diags := f.readConfiguration()
	if diags.HasErrors() {
		return nil, diags
	}
	diags = f.parseConfiguration(data)
	if f.src.file == nil || f.src.file.Body == nil {
		return nil, diags
	}
	diags = append(diags, f.decodeAll()...)
	diags.Sort()
	return f, diags
}

func (f *File) readConfiguration() ([]byte, Diagnostics) {
	data, err := f.opts.ReadFile(f.Path)
	at := Range{File: f.Path}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrorAt(at, "Configuration file not found", "Create it, or name another one with -config FILE.")
	case err != nil:
		return nil, ErrorAt(at, "Configuration file cannot be read", bareError(err).Error()+".")
	case len(data) > maxFile:
		return nil, ErrorAt(at, "Configuration file too large", "It may have at most 1 MiB.")
	}
	return data, nil
}

func (f *File) parseConfiguration(data []byte) Diagnostics {
	f.src = &source{name: f.Path, bytes: data, json: isJSON(f.Path), labelled: map[string]bool{}}
	for _, h := range f.rootSchema().Blocks {
		f.src.labelled[h.Type] = true
	}
	var found hcl.Diagnostics
	if f.src.json {
		f.src.file, found = hcljson.Parse(data, f.Path)
	} else {
		f.src.file, found = hclsyntax.ParseConfig(data, f.Path, hcl.InitialPos)
	}
	if number, ok := f.src.findHugeNumber(); ok {
		f.src.file = nil
		return append(f.src.convertDiagnostics(found), ErrorAt(number, "Number too large", "An exponent is at most ±999.")...)
	}
	f.incomplete, f.src.broken = found.HasErrors(), found.HasErrors()
	return f.src.convertDiagnostics(found)
}

// isJSON reports whether a file is read as HCL's JSON syntax.
func isJSON(path string) bool { return strings.HasSuffix(path, ".json") }

func (f *File) rootSchema() *hcl.BodySchema {
	s := &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "core"}, {Type: "supervisor"}, {Type: "backup"}, {Type: "defaults"},
		{Type: "storage", LabelNames: []string{"type"}},
		{Type: "plugin", LabelNames: []string{"name"}},
		{Type: "service", LabelNames: []string{"name"}},
	}}
	for _, kind := range f.opts.Kinds {
		s.Blocks = append(s.Blocks, hcl.BlockHeaderSchema{Type: kind, LabelNames: []string{"plugin", "instance"}})
	}
	return s
}

func (f *File) decodeAll() Diagnostics {
	d := f.newDecoder()
	content, found := f.src.file.Body.Content(f.rootSchema())
	d.diags = append(d.diags, f.src.convertDiagnostics(found)...)
	if content == nil {
		return d.diags
	}
	blocks := content.Blocks.ByType()
	d.decodePlugins(blocks["plugin"])
	d.decodeInstances(content.Blocks, d.decodeDefaults(blocks["defaults"]))
	f.core = d.decodeSingleton("core", blocks["core"], f.opts.Core)
	f.supervisor = d.decodeSingleton("supervisor", blocks["supervisor"], f.opts.Supervisor)
	f.backup = d.decodeSingleton("backup", blocks["backup"], f.opts.Backup)
	f.storage = d.decodeStorage(blocks["storage"])
	d.decodeServices(blocks["service"])
	return d.diags
}

// Origins tells for every value where it came from, such as "environment SVC_HTTP_ADDR", "plugin.hcl:12", "defaults at
// plugin.hcl:3", "default" or "not set". Keys are as in core.http_addr, storage.sqlite.path, service.search.base_url,
// search.docs.timeout and search.docs.config.folders.
func (f *File) Origins() map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.origins)
}

func (f *File) recordOrigins(prefix string, n *node) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n.walkValues(nil, func(p schema.Path, v *value) { f.origins[prefix+"."+p.String()] = v.origin })
}
