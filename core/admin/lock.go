package admin

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
	"github.com/patchbay-dev/patchbay/core/plugin/pin"
	"github.com/patchbay-dev/patchbay/core/settings"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
)

// LockPlugins pins the third-party plugins of a configuration in its lock file. It returns lines that tell what has changed: the digests,
// and what each plugin offers, for which it is started once as it is pinned. Digests for other platforms are kept, unless the lock file is
// damaged: then it is written anew, and a warning says so.
func LockPlugins(ctx context.Context, src settings.Source) ([]string, config.Diagnostics, error) {
	set, diags, err := src.Read()
	if err != nil || diags.HasErrors() {
		return nil, diags, err
	}
	lockPath := config.LockPath(src.Path)
	lock, found := config.LoadLock(lockPath)
	if found.HasErrors() {
		diags = append(diags, config.WarningAt(config.Range{File: lockPath}, "Lock file was damaged",
			"It was written anew. Digests for platforms other than "+settings.Platform()+" are gone: run patchbay plugin lock there as well.")...)
		lock = &config.Lock{Plugins: map[string]config.LockEntry{}}
	}
	former := maps.Clone(lock.Plugins)
	for _, p := range set.File.Plugins {
		if p.Path == "" {
			continue
		}
		entry, err := pluginDigests(set.File.Dir, p, former[p.Name])
		if err != nil {
			return nil, diags, fmt.Errorf("pin plugin %q: %w", p.Name, err)
		}
		lock.Plugins[p.Name] = entry
	}
	h, err := host.New(host.Config{Logger: hclog.NewNullLogger(), SocketDir: set.Core.SocketDir, DataDir: set.DataDir})
	if err != nil {
		return nil, diags, err
	}
	defer h.Close()
	resolver := set.WithLock(lock, src.Env)
	var lines []string
	for _, p := range set.File.Plugins {
		if p.Path == "" {
			continue
		}
		entry, failure := lock.Plugins[p.Name], ""
		if entry.Abilities, err = findAbilities(ctx, h, resolver.PluginSpec(p)); err != nil {
			entry.Abilities, failure = former[p.Name].Abilities, host.Reason(err)
		}
		lock.Plugins[p.Name] = entry
		lines = append(lines, describeLock(p.Name, former[p.Name], entry, failure)...)
	}
	if err := lock.Write(lockPath); err != nil {
		return nil, nil, err
	}
	return lines, diags, nil
}

// pluginDigests returns what the lock file holds of a plugin: the digests of its binary, of the arguments that are files, and of their
// folders. Those of old for other platforms stay.
func pluginDigests(dir string, p *config.Plugin, old config.LockEntry) (config.LockEntry, error) {
	entry := config.LockEntry{Digests: map[string]string{}, Files: map[string]string{}, Trees: map[string]string{}}
	maps.Copy(entry.Digests, old.Digests)
	sum, err := pin.FileDigest(p.Path)
	if err != nil {
		return entry, err
	}
	entry.Digests[settings.Platform()] = "sha256:" + sum
	parts := settings.FindParts(dir, p)
	for arg, file := range parts.Files {
		if sum, err = pin.FileDigest(file); err != nil {
			return entry, err
		}
		entry.Files[arg] = "sha256:" + sum
	}
	for _, folder := range parts.Folders {
		if err := checkFolder(dir, folder); err != nil {
			return entry, err
		}
		if sum, err = pin.TreeDigest(folder); err != nil {
			return entry, err
		}
		entry.Trees[settings.FolderName(dir, folder)] = "sha256:" + sum
	}
	return entry, nil
}

// checkFolder refuses the folder of a plugin's file that holds more than a plugin: one of the system, or that of plugin.hcl.
func checkFolder(dir, folder string) error {
	if dir == folder || isBelow(folder, dir) {
		return fmt.Errorf("its files lie in %s with plugin.hcl, and all that it holds would be pinned: put them into a folder of their own, such as %s", folder, filepath.Join(dir, "plugins", "NAME"))
	}
	return pin.CheckFolder(folder)
}

// findAbilities starts a plugin and returns the kinds that it offers and their capabilities, sorted.
func findAbilities(ctx context.Context, h *host.Host, spec host.Spec) ([]string, error) {
	process, err := h.Open(ctx, spec)
	if err != nil {
		return nil, err
	}
	defer process.Release()
	return listAbilities(process.Describe()), nil
}

func listAbilities(about *pluginv1.DescribeResponse) (all []string) {
	for _, k := range about.GetKinds() {
		all = append(all, k.GetName())
		for _, c := range k.GetCapabilities() {
			all = append(all, k.GetName()+"/"+c)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// describeLock returns lines about what has changed between two states of a plugin's entry. failure is why its abilities are not known.
func describeLock(name string, former, now config.LockEntry, failure string) []string {
	lines := []string{name + " " + describeDigest(former.Digests[settings.Platform()], now.Digests[settings.Platform()])}
	add := func(what string, former, now map[string]string) {
		for _, key := range slices.Sorted(maps.Keys(now)) {
			lines = append(lines, "  "+what+key+" "+describeDigest(former[key], now[key]))
		}
		for _, key := range slices.Sorted(maps.Keys(former)) {
			if _, ok := now[key]; !ok {
				lines = append(lines, "  "+what+key+" is not pinned any more")
			}
		}
	}
	add("", former.Files, now.Files)
	add("folder ", former.Trees, now.Trees)
	if failure != "" {
		return append(lines, "  abilities: not known, since it does not start: "+failure)
	}
	return append(lines, "  abilities: "+describeAbilities(former.Abilities, now.Abilities))
}

func describeDigest(former, now string) string {
	switch former {
	case "":
		return now
	case now:
		return now + " unchanged"
	}
	return former + " → " + now
}

// describeAbilities returns what was added and removed, or all if there was nothing before.
func describeAbilities(former, now []string) string {
	if len(former) == 0 {
		return strings.Join(now, ", ")
	}
	var changes []string
	for _, a := range now {
		if !slices.Contains(former, a) {
			changes = append(changes, "+ "+a)
		}
	}
	for _, a := range former {
		if !slices.Contains(now, a) {
			changes = append(changes, "- "+a)
		}
	}
	if len(changes) == 0 {
		return "unchanged"
	}
	return strings.Join(changes, ", ")
}
