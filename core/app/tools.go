package app

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/search"
	"github.com/patchbay-dev/patchbay/core/store"
)

// CheckConfig reports every finding about a configuration: it starts the plugins to have them check their parts, and
// ends them again.
func CheckConfig(ctx context.Context, path string, env config.Env, version string) (config.Diagnostics, error) {
	_, diags, err := ShowConfig(ctx, path, env, version)
	return diags, err
}

// ShowConfig is CheckConfig with the configuration itself.
func ShowConfig(ctx context.Context, path string, env config.Env, version string) (*config.File, config.Diagnostics, error) {
	set, res, diags, err := load(ctx, path, env)
	if err != nil || set == nil {
		return nil, diags, err
	}
	diags = append(diags, set.checkMachine()...)
	h, err := host.New(host.Config{Logger: hclog.NewNullLogger(), SocketDir: set.core.SocketDir, DataDir: set.dataDir})
	if err != nil {
		return nil, diags, err
	}
	defer h.Close()
	cat := catalog.New(catalog.Config{Host: h, Version: version, Protected: set.protected()})
	plan := set.plan(ctx, cat, res)
	plan.close()
	return set.file, append(diags, plan.diags...), nil
}

// AdminAddr is the configured address of the admin listener.
func AdminAddr(path string, env config.Env) (string, error) {
	set, diags, err := base(path, env)
	if err != nil {
		return "", err
	}
	if diags.HasErrors() {
		return "", diags.Err()
	}
	return set.core.AdminAddr, nil
}

// base reads the configuration without asking any plugin.
func base(path string, env config.Env) (*settings, config.Diagnostics, error) {
	opts, err := options(nil)
	if err != nil {
		return nil, nil, err
	}
	file, diags := config.Load(path, env, opts)
	if file == nil || diags.HasErrors() {
		return nil, diags, nil
	}
	set, found := decode(file)
	return set, append(diags, withoutRepeats(diags, found)...), nil
}

// Records is the database, open beside a core that may be running.
type Records struct {
	Users  *auth.Users
	Search *search.Admin
	store  *store.Store
	url    string
}

// OpenRecords opens the database of a configuration and brings it up to date.
func OpenRecords(ctx context.Context, path string, env config.Env) (*Records, config.Diagnostics, error) {
	set, diags, err := base(path, env)
	if err != nil || diags.HasErrors() {
		return nil, diags, err
	}
	keyring, err := secret.LoadKeyring(set.keyring())
	if err != nil {
		return nil, diags, err
	}
	st, err := store.Open(ctx, set.store)
	if err != nil {
		return nil, diags, err
	}
	if err := st.Migrate(ctx, Migrations()...); err != nil {
		return nil, diags, errors.Join(err, st.Close())
	}
	users, err := auth.New(auth.Config{Store: st, Keyring: keyring})
	if err != nil {
		return nil, diags, errors.Join(err, st.Close())
	}
	return &Records{Users: users, Search: search.NewAdmin(st, keyring, nil), store: st, url: set.address()}, diags, nil
}

// Close closes the database.
func (r *Records) Close() error { return r.store.Close() }

// LockPlugins pins the third-party plugins of a configuration in its lock file and tells what it wrote. Digests for other
// platforms are kept, unless the lock file is damaged: then it is written anew, and a warning says so.
func LockPlugins(path string, env config.Env) ([]string, config.Diagnostics, error) {
	set, diags, err := base(path, env)
	if err != nil || diags.HasErrors() {
		return nil, diags, err
	}
	lockPath := config.LockPath(path)
	lock, found := config.LoadLock(lockPath)
	if found.HasErrors() {
		diags = append(diags, config.WarningAt(config.Range{File: lockPath}, "Lock file was damaged",
			"It was written anew. Digests for platforms other than "+Platform()+" are gone: run patchbay plugin lock there as well.")...)
		lock = &config.Lock{Plugins: map[string]config.LockEntry{}}
	}
	var written []string
	for _, p := range set.file.Plugins {
		if p.Path == "" {
			continue
		}
		entry, err := digestsOf(set.file.Dir, p, lock.Plugins[p.Name])
		if err != nil {
			return nil, diags, fmt.Errorf("pin plugin %q: %w", p.Name, err)
		}
		lock.Plugins[p.Name] = entry
		written = append(written, fmt.Sprintf("%s %s", p.Name, entry.Digests[Platform()]))
	}
	if err := lock.Write(lockPath); err != nil {
		return nil, nil, err
	}
	return written, diags, nil
}

func digestsOf(dir string, p *config.Plugin, old config.LockEntry) (config.LockEntry, error) {
	entry := config.LockEntry{Digests: map[string]string{}, Files: map[string]string{}}
	for platform, d := range old.Digests {
		entry.Digests[platform] = d
	}
	sum, err := host.FileDigest(p.Path)
	if err != nil {
		return entry, err
	}
	entry.Digests[Platform()] = "sha256:" + sum
	for _, a := range p.Args {
		file := absolute(dir, a)
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if sum, err = host.FileDigest(file); err != nil {
			return entry, err
		}
		entry.Files[a] = "sha256:" + sum
	}
	return entry, nil
}
