package app

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/kinds"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/core/services/search"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// CoreSettings is the block core of plugin.hcl.
type CoreSettings struct {
	HTTPAddr       string        `patchbay:"http_addr,default=0.0.0.0:50883,env=SVC_HTTP_ADDR" doc:"Where the services are reached."`
	AdminAddr      string        `patchbay:"admin_addr,default=127.0.0.1:50885,env=SVC_ADMIN_ADDR" doc:"Where /livez, /readyz and /metrics are reached."`
	PublicURL      string        `patchbay:"public_url,default=,env=SVC_PUBLIC_URL" doc:"Absolute URL under which browsers see the core."`
	DataDir        string        `patchbay:"data_dir,default=data,env=SVC_DATA_DIR" doc:"Directory of the database, the master key and the instances' own data."`
	SecretKey      schema.Secret `patchbay:"secret_key,default=,env=SVC_SECRET_KEY" doc:"Master key: 32 bytes in base64. Unset: a file in the data directory, made at the first start."`
	SocketDir      string        `patchbay:"socket_dir,default=,env=SVC_SOCKET_DIR" doc:"Short directory below which plugin sockets live. One that another user could change, or that is too long, is not used, and the log says so."`
	PluginBinary   string        `patchbay:"plugin_binary,default=,env=SVC_PLUGIN_BINARY" doc:"The binary of the built-in plugins. Unset: patchbay-plugins beside the core's own binary."`
	TrustedProxies []string      `patchbay:"trusted_proxies,default=127.0.0.0/8|::1/128,env=SVC_AUTH_TRUSTED_PROXIES" doc:"Addresses whose forwarding headers are believed."`
	UserHeader     string        `patchbay:"forward_header,default=X-Forwarded-User,env=SVC_AUTH_FORWARD_HEADER_NAME" doc:"Header in which a trusted proxy names the person that it has signed in."`
	GroupHeader    string        `patchbay:"group_header,default=Remote-Groups,env=SVC_AUTH_GROUP_HEADER_NAME" doc:"Header in which it names that person's groups, separated by commas."`
	AllowedUser    string        `patchbay:"allowed_user,default=,env=SVC_AUTH_ALLOWED_USER" doc:"The forwarded user who is let in."`
	AllowedGroup   string        `patchbay:"allowed_group,default=,env=SVC_AUTH_ALLOWED_GROUP" doc:"The forwarded group whose members are let in. User or group is enough."`
	ProxySecret    schema.Secret `patchbay:"proxy_secret,default=,env=SVC_AUTH_PROXY_SECRET" doc:"What the proxy that signs people in must send in X-Patchbay-Proxy-Secret, at least 16 characters, or its identity headers do not count. Unset: none."`
	Anonymous      bool          `patchbay:"allow_anonymous_in_dev,default=false,env=SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV" doc:"Whether callers without an identity may administer, from anywhere, until there is an allowlist. For development only."`
	LogLevel       string        `patchbay:"log_level,default=info,enum=trace|debug|info|warn|error,env=SVC_LOG_LEVEL" doc:"What is logged."`
	LogFormat      string        `patchbay:"log_format,default=text,enum=text|json,env=SVC_LOG_FORMAT" doc:"How it is logged."`
	Drain          time.Duration `patchbay:"drain,default=30s" doc:"How long requests may take to finish at a stop or a reload."`
	MaxConnections int64         `patchbay:"max_connections,default=4096,env=SVC_MAX_CONNECTIONS" doc:"How many connections of clients are open at once, at least 16; more wait."`
	MaxStreams     int64         `patchbay:"max_streams,default=512,env=SVC_MAX_STREAMS" doc:"How many streams of events are open at once, at least 1."`
	MaxStreamsEach int64         `patchbay:"max_streams_each,default=128,env=SVC_MAX_STREAMS_EACH" doc:"How many of them one user, or one address without a user, may have, at least 1."`
	Pprof          bool          `patchbay:"pprof,default=false,env=SVC_PPROF" doc:"Whether the admin listener serves Go's profiles at /debug/pprof/."`
}

// sqliteSettings and postgresSettings are the storage blocks.
type sqliteSettings struct {
	Path string `patchbay:"path,default=,env=SVC_DB_PATH" doc:"The database file. Unset: patchbay.sqlite3 in the data directory."`
}

type postgresSettings struct {
	URL schema.Secret `patchbay:"url,required,env=SVC_DATABASE_URL" doc:"Connection URL."`
}

// options tell the configuration what may stand in plugin.hcl.
func options(builtins map[string][]string) (config.Options, error) {
	opts := config.Options{
		Services: map[string]*schema.Schema{}, Storage: map[string]*schema.Schema{}, DefaultStorage: string(store.SQLite),
		Builtins: builtins, DefaultTimeout: 3 * time.Minute, Kinds: kinds.Names(),
	}
	for _, d := range []struct {
		into func(*schema.Schema)
		from any
	}{
		{func(s *schema.Schema) { opts.Core = s }, CoreSettings{}},
		{func(s *schema.Schema) { opts.Storage[string(store.SQLite)] = s }, sqliteSettings{}},
		{func(s *schema.Schema) { opts.Storage[string(store.Postgres)] = s }, postgresSettings{}},
		{func(s *schema.Schema) { opts.Services["search"] = s }, search.Settings{}},
		{func(s *schema.Schema) { opts.Services["containers"] = s }, containers.Settings{}},
	} {
		s, err := schema.Of(d.from)
		if err != nil {
			return opts, fmt.Errorf("schema of %T: %w", d.from, err)
		}
		d.into(s)
	}
	return opts, nil
}

// settings is what the configuration says, decoded and checked as far as that needs no plugin.
type settings struct {
	file       *config.File
	core       CoreSettings
	dataDir    string
	store      store.Config
	search     *search.Settings
	containers *containers.Settings
}

// decode reads the blocks of the core. It reports everything that it finds.
func decode(file *config.File) (*settings, config.Diagnostics) {
	out := &settings{file: file}
	diags := file.Core().Decode(&out.core)
	diags = append(diags, checkCore(file.Core(), out.core)...)
	out.dataDir = absolute(file.Dir, out.core.DataDir)
	diags = append(diags, out.decodeStorage()...)
	var mounts []config.Mount
	if block := file.Service("search"); block != nil {
		out.search = &search.Settings{}
		diags = append(diags, decodeService(block, out.search)...)
		mounts = append(mounts, mountOf(block, "search", out.search.BaseURL))
	}
	if block := file.Service("containers"); block != nil {
		out.containers = &containers.Settings{}
		diags = append(diags, decodeService(block, out.containers)...)
		mounts = append(mounts, mountOf(block, "containers", out.containers.BaseURL))
	}
	return out, append(diags, config.CheckMounts(mounts)...)
}

// decodeService reads the block of a service, and checks it if it could be read.
func decodeService(block *config.Block, into interface{ Check() schema.Diagnostics }) config.Diagnostics {
	found := block.Decode(into)
	if !found.HasErrors() {
		found = append(found, block.Locate(into.Check())...)
	}
	return found
}

func mountOf(block *config.Block, service, baseURL string) config.Mount {
	return config.Mount{Service: service, BaseURL: baseURL, Range: block.RangeOf(schema.At("base_url"))}
}

func (s *settings) decodeStorage() config.Diagnostics {
	block := s.file.Storage()
	if block == nil {
		return nil
	}
	s.store.Dialect = store.Dialect(block.Name)
	if s.store.Dialect == store.Postgres {
		var p postgresSettings
		diags := block.Decode(&p)
		s.store.URL = p.URL.Reveal()
		return append(diags, block.Locate(findingAt("url", s.store.CheckURL()))...)
	}
	var l sqliteSettings
	diags := block.Decode(&l)
	if l.Path == "" {
		l.Path = filepath.Join(s.dataDir, "patchbay.sqlite3")
	}
	s.store.Path = absolute(s.file.Dir, l.Path)
	return diags
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// keyFile is where the master key lies unless the environment has it.
func (s *settings) keyFile() string { return filepath.Join(s.dataDir, "master.key") }

// keyring says where the master key is.
func (s *settings) keyring() secret.Options {
	return secret.Options{Env: s.core.SecretKey.Reveal(), Path: s.keyFile()}
}

// protected are the files that no plugin may give away.
func (s *settings) protected() []string {
	path := absolute(s.file.Dir, filepath.Base(s.file.Path))
	out := []string{s.dataDir, s.keyFile(), path, config.LockPath(path)}
	if s.store.Path != "" {
		out = append(out, s.store.Path)
	}
	return out
}
