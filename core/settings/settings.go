// Package settings reads plugin.hcl, as far as that needs no running core: the blocks of the core and of the services, the
// plugins that the instances need, and what these say about their configuration.
package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/module"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/kinds"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Core is the block core of plugin.hcl.
type Core struct {
	HTTPAddr           string        `patchbay:"http_addr,default=0.0.0.0:50883,env=SVC_HTTP_ADDR" doc:"Address of the services and the console."`
	AdminAddr          string        `patchbay:"admin_addr,default=127.0.0.1:50885,env=SVC_ADMIN_ADDR" doc:"Address of /livez, /readyz and /metrics. Keep it private."`
	PublicURL          string        `patchbay:"public_url,default=,env=SVC_PUBLIC_URL" doc:"The URL that people open in a browser, such as https://patchbay.example.com."`
	DataDir            string        `patchbay:"data_dir,default=data,env=SVC_DATA_DIR" doc:"Directory of the database, the master key and the data of plugins."`
	SecretKey          schema.Secret `patchbay:"secret_key,default=,env=SVC_SECRET_KEY" doc:"Master key: 32 bytes in base64, several separated by commas to rotate. Unset: master.key in the data directory, created at the first start."`
	SocketDir          string        `patchbay:"socket_dir,default=,env=SVC_SOCKET_DIR" doc:"Short directory for the sockets of plugins. Patchbay logs and skips one that is too long or that another user could change."`
	PluginBinary       string        `patchbay:"plugin_binary,default=,env=SVC_PLUGIN_BINARY" doc:"The binary of the built-in plugins. Unset: patchbay-plugins beside the core's own binary."`
	TrustedProxies     []string      `patchbay:"trusted_proxies,default=127.0.0.0/8|::1/128,env=SVC_AUTH_TRUSTED_PROXIES" doc:"Reverse proxies whose forwarding headers count."`
	UserHeader         string        `patchbay:"forward_header,default=X-Forwarded-User,env=SVC_AUTH_FORWARD_HEADER_NAME" doc:"Header with the user name from a trusted proxy."`
	GroupHeader        string        `patchbay:"group_header,default=Remote-Groups,env=SVC_AUTH_GROUP_HEADER_NAME" doc:"Header with the groups of that user, separated by commas."`
	AllowedUser        string        `patchbay:"allowed_user,default=,env=SVC_AUTH_ALLOWED_USER" doc:"The forwarded user who may sign in."`
	AllowedGroup       string        `patchbay:"allowed_group,default=,env=SVC_AUTH_ALLOWED_GROUP" doc:"The forwarded group whose members may sign in. One of user and group is enough."`
	ProxySecret        schema.Secret `patchbay:"proxy_secret,default=,env=SVC_AUTH_PROXY_SECRET" doc:"Secret of at least 16 characters that the proxy sends in X-Patchbay-Proxy-Secret. If set, requests without it do not count as signed in."`
	Anonymous          bool          `patchbay:"allow_anonymous_in_dev,default=false,env=SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV" doc:"Let everybody administer without signing in, from anywhere, until an allowlist exists. For development only."`
	ConsoleWrites      bool          `patchbay:"console_writes,default=true,env=SVC_CONSOLE_WRITES" doc:"Let administrators change plugin.hcl in the console."`
	LogLevel           string        `patchbay:"log_level,default=info,enum=trace|debug|info|warn|error,env=SVC_LOG_LEVEL" doc:"The lowest level to log."`
	LogFormat          string        `patchbay:"log_format,default=text,enum=text|json,env=SVC_LOG_FORMAT" doc:"Format of the log."`
	Drain              time.Duration `patchbay:"drain,default=30s" doc:"How long a stop or reload waits for running requests."`
	MaxConnections     int64         `patchbay:"max_connections,default=4096,env=SVC_MAX_CONNECTIONS" doc:"Open client connections, at least 16. A new one closes the one idle longest, or waits."`
	MaxConnectionsEach int64         `patchbay:"max_connections_each,default=1024,env=SVC_MAX_CONNECTIONS_EACH" doc:"Open connections from one address (IPv6: one /64), at least 16. Trusted proxies may have more."`
	MaxStreams         int64         `patchbay:"max_streams,default=512,env=SVC_MAX_STREAMS" doc:"Open event streams, at least 1."`
	MaxStreamsEach     int64         `patchbay:"max_streams_each,default=128,env=SVC_MAX_STREAMS_EACH" doc:"Open event streams of one user (or one address without a user), at least 1."`
	NodeID             string        `patchbay:"node_id,default=,env=SVC_NODE_ID" doc:"Name of this core in the list of nodes: 1 to 64 letters, digits, dots, dashes and underscores. Unset: the name of the host."`
	Schedules          bool          `patchbay:"schedules,default=true,env=SVC_SCHEDULES" doc:"Run scheduled jobs: checks, feed reads, clean-up, backups. Set it to false for a copy of your data that must not act."`
	Pprof              bool          `patchbay:"pprof,default=false,env=SVC_PPROF" doc:"Serve Go profiles at /debug/pprof/ on the admin address."`
}

// defaultDataDir is the default of data_dir.
const defaultDataDir = "data"

// sqliteStorage is the block of the embedded database.
type sqliteStorage struct {
	Path     string `patchbay:"path,default=,env=SVC_DB_PATH" doc:"The database file. Unset: patchbay.sqlite3 in the data directory."`
	Replicas bool   `patchbay:"replicas,default=false,env=SVC_REPLICAS" doc:"Must be false: several cores need storage \"postgres\"."`
}

// postgresStorage is the block of a database server.
type postgresStorage struct {
	URL           schema.Secret `patchbay:"url,required,env=SVC_DATABASE_URL" doc:"Connection URL."`
	DirectURL     schema.Secret `patchbay:"direct_url,default=,env=SVC_DATABASE_DIRECT_URL" doc:"Connection URL of the server itself, if url leads through a pooler that shares sessions, such as PgBouncer with pool_mode=transaction."`
	Replicas      bool          `patchbay:"replicas,default=false,env=SVC_REPLICAS" doc:"Let several cores use the database at the same time. All need the same secret_key."`
	MigrationCopy bool          `patchbay:"migration_copy,default=true,env=SVC_MIGRATION_COPY" doc:"Copy the database to the data directory before a new version changes the schema. Needs the programs of postgresql-client."`
}

// FileOptions returns what may stand in plugin.hcl. builtins are the names of the built-in plugins by kind, nil while they are
// not known.
func (s Source) FileOptions(builtins map[string][]string) (opts config.Options, err error) {
	opts = config.Options{
		Services: map[string]*schema.Schema{}, Storage: map[string]*schema.Schema{}, DefaultStorage: string(store.SQLite),
		Builtins: builtins, DefaultTimeout: 3 * time.Minute, Kinds: kinds.Names(), Overlay: s.Overlay,
	}
	derive := func(block any) *schema.Schema {
		made, failure := schema.Of(block)
		if failure != nil {
			err = errors.Join(err, fmt.Errorf("schema of %T: %w", block, failure))
		}
		return made
	}
	opts.Core, opts.Supervisor, opts.Backup = derive(Core{}), derive(Supervisor{}), derive(Backup{})
	opts.Storage[string(store.SQLite)], opts.Storage[string(store.Postgres)] = derive(sqliteStorage{}), derive(postgresStorage{})
	for _, d := range s.Services {
		if opts.Services[d.Name] != nil {
			return opts, fmt.Errorf("two services have the name %q", d.Name)
		}
		opts.Services[d.Name] = derive(d.Settings())
	}
	return opts, err
}

// Settings is what the configuration says, decoded and checked as far as that needs no plugin.
type Settings struct {
	File       *config.File
	Core       Core
	Supervisor Supervisor
	// DataDir is the absolute path of the data directory.
	DataDir string
	Store   store.Config
	// Backup is nil without the block.
	Backup *Backup
	// Services are those that are switched on, in the order of the definitions.
	Services []Service
}

// Service is a service whose block stands in plugin.hcl.
type Service struct {
	module.Definition
	// Block is the decoded block.
	Block module.Settings
	// BaseURL is where it is mounted: a path or an absolute URL.
	BaseURL string
	// References are the instances that the block names.
	References []string
}

// decodeFile decodes the blocks of the core and of the services. It reports every finding.
func (s Source) decodeFile(file *config.File) (*Settings, config.Diagnostics) {
	out := &Settings{File: file}
	diags := file.Core().Decode(&out.Core)
	diags = append(diags, checkCore(file.Core(), out.Core)...)
	out.DataDir = AbsolutePath(file.Dir, out.Core.DataDir)
	diags = append(diags, file.Supervisor().Decode(&out.Supervisor)...)
	diags = append(diags, checkSupervisor(file.Supervisor(), out.Supervisor)...)
	diags = append(diags, out.decodeStorage()...)
	if out.Store.Shared && out.Core.SecretKey == "" {
		diags = append(diags, file.Core().Locate(schema.Errorf(schema.At("secret_key"),
			"is required with replicas: set the same one (SVC_SECRET_KEY) for all cores"))...)
	}
	diags = append(diags, out.decodeBackup()...)
	diags = append(diags, s.checkVariables(file)...)
	var mounts []config.Mount
	for _, d := range s.Services {
		block := file.Service(d.Name)
		if block == nil {
			continue
		}
		decoded := Service{Definition: d, Block: d.Settings(), BaseURL: block.BaseURL(), References: block.References()}
		found := block.Decode(decoded.Block)
		if !found.HasErrors() {
			found = append(found, block.Locate(decoded.Block.Check())...)
		}
		diags, out.Services = append(diags, found...), append(out.Services, decoded)
		mounts = append(mounts, config.Mount{Service: d.Name, BaseURL: decoded.BaseURL, Range: block.RangeOf(schema.At("base_url"))})
	}
	return out, append(diags, config.CheckMounts(mounts)...)
}

// Service returns a service that is switched on, or nil.
func (s *Settings) Service(name string) *Service {
	for i := range s.Services {
		if s.Services[i].Name == name {
			return &s.Services[i]
		}
	}
	return nil
}

// decodeStorage decodes the block of the database.
func (s *Settings) decodeStorage() config.Diagnostics {
	block := s.File.Storage()
	if block == nil {
		return nil
	}
	s.Store.Dialect = store.Dialect(block.Name)
	if s.Store.Dialect == store.Postgres {
		var p postgresStorage
		diags := block.Decode(&p)
		s.Store.URL, s.Store.MigrateWithoutCopy, s.Store.CopyPath = p.URL.Reveal(), !p.MigrationCopy, s.CopyFile()
		s.Store.DirectURL, s.Store.Shared = p.DirectURL.Reveal(), p.Replicas
		found := diagnosticAt("url", s.Store.CheckURL())
		if s.Store.DirectURL != "" {
			found = append(found, diagnosticAt("direct_url", s.Store.CheckDirectURL())...)
		}
		if err := s.Store.CheckTools(); err != nil && p.MigrationCopy {
			found = append(found, schema.Warnf(schema.At("migration_copy"),
				"an upgrade that changes the schema will not start: %v, or set migration_copy = false", err)...)
		}
		return append(diags, block.Locate(found)...)
	}
	var l sqliteStorage
	diags := block.Decode(&l)
	if l.Path == "" {
		l.Path = filepath.Join(s.DataDir, "patchbay.sqlite3")
	}
	s.Store.Path = AbsolutePath(s.File.Dir, l.Path)
	if l.Replicas {
		diags = append(diags, block.Locate(schema.Errorf(schema.At("replicas"),
			"must be false: SQLite has one core; use storage \"postgres\" for several"))...)
	}
	return diags
}

// NodeID returns the name of the core among the nodes of its database.
func (s *Settings) NodeID() string {
	if s.Core.NodeID != "" {
		return s.Core.NodeID
	}
	host, _ := os.Hostname()
	return cluster.IDOfHost(host)
}

// CopyFile returns the file of the data directory that copies of a PostgreSQL database are named after.
func (s *Settings) CopyFile() string { return filepath.Join(s.DataDir, "patchbay.pgdump") }

// AbsolutePath returns path, which starts at dir if it is relative.
func AbsolutePath(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// KeyFile returns the file of the master key, which is used unless the settings hold the key.
func (s *Settings) KeyFile() string { return filepath.Join(s.DataDir, "master.key") }

// Keyring returns where the master key is.
func (s *Settings) Keyring() secret.Options {
	return secret.Options{Env: s.Core.SecretKey.Reveal(), Path: s.KeyFile()}
}

// ConfigPath returns the absolute path of plugin.hcl.
func (s *Settings) ConfigPath() string {
	return AbsolutePath(s.File.Dir, filepath.Base(s.File.Path))
}

// Protected returns the files that no plugin may give away.
func (s *Settings) Protected() []string {
	path := s.ConfigPath()
	out := []string{s.DataDir, s.KeyFile(), path, config.LockPath(path)}
	if s.Store.Path != "" {
		out = append(out, s.Store.Path)
	}
	return out
}

// Migrations returns the schemas of all modules, in the order in which they are applied.
func (s Source) Migrations() []store.Migrations {
	all := []store.Migrations{queue.Migrations(), cluster.Migrations(), notify.Migrations(), auth.Migrations()}
	for _, d := range s.Services {
		if d.Migrations.FS != nil {
			all = append(all, d.Migrations)
		}
	}
	return all
}
