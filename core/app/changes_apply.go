package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/console"
	"github.com/patchbay-dev/patchbay/core/fault"
)

const (
	// maxBackups is how many former configurations are kept.
	maxBackups = 20
	// applyWithin bounds the way of a change into use.
	applyWithin = 5 * time.Minute
)

// Apply implements console.Configurator. Whoever has asked may be gone before it ends.
func (p *providers) Apply(ctx context.Context, user, id string) (console.Change, error) {
	a := p.app
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), applyWithin)
	defer cancel()
	a.reload.Lock()
	defer a.reload.Unlock()
	c, err := a.changes.find(user, id, time.Now())
	switch {
	case err != nil:
		return console.Change{}, err
	case a.draining:
		return console.Change{}, fault.New(fault.NotReady, "The core is stopping.")
	case c.State != console.ChangeChecked:
		return c.Change, fault.New(fault.Conflict, "This change was not checked, or was already applied.")
	case p.Writing().ReadOnly != "":
		return c.Change, fault.New(fault.Forbidden, "The console cannot write plugin.hcl: edit the file by hand.")
	}
	out := a.applyChange(ctx, c)
	out.At = time.Now()
	if out.State != console.ChangeApplied {
		a.log.Warn("change of plugin.hcl not applied", "change", c.About, "state", out.State, "reason", out.Reason)
	} else {
		a.log.Info("plugin.hcl changed in the console", "change", c.About, "backup", out.Backup)
	}
	a.changes.finish(id, out)
	return out, nil
}

// applyChange writes a change and reads the configuration again. After an error the file has the former text again, and what was
// in use before is in use. The caller holds App.reload.
func (a *App) applyChange(ctx context.Context, c change) console.Change {
	out := c.Change
	end := func(state string, err error) console.Change {
		out.State, out.Reason = state, a.redact.Values(err.Error())
		return out
	}
	former, err := config.ReadSnapshot(a.cfg.Path)
	if err != nil {
		return end(console.ChangeFailed, err)
	}
	if former.Digest() != c.base {
		return end(console.ChangeOutdated, config.ErrChanged)
	}
	if out.Backup, err = former.Backup(a.set.BackupsDir(), time.Now().UTC().Format("20060102T150405.000000Z"), maxBackups); err != nil {
		return end(console.ChangeFailed, err)
	}
	if err := writeSecrets(c.proposal.Secrets); err != nil {
		return end(console.ChangeFailed, err)
	}
	written, err := former.Replace(c.text)
	if err != nil {
		removeSecrets(c.proposal.Secrets)
		if errors.Is(err, config.ErrChanged) {
			return end(console.ChangeOutdated, err)
		}
		return end(console.ChangeFailed, err)
	}
	diags, err := a.reloadConfiguration(ctx)
	if err == nil {
		err = diags.Err()
	}
	if err == nil {
		a.outcome.record(diags, nil)
		a.dropUnusedSecrets(written)
		out.State = console.ChangeApplied
		return out
	}
	if _, back := written.Replace(former.Text); back != nil {
		a.outcome.record(diags, err)
		return end(console.ChangeFailed, fmt.Errorf("%w; and the former text could not be put back: %w", err, back))
	}
	removeSecrets(c.proposal.Secrets)
	return end(console.ChangeReverted, err)
}

// writeSecrets writes the files of secrets. After an error there is none of them.
func writeSecrets(files map[string][]byte) error {
	for path, text := range files {
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = config.WriteSecret(path, text)
		}
		if err != nil {
			removeSecrets(files)
			return fmt.Errorf("write a secret: %w", err)
		}
	}
	return nil
}

// removeSecrets deletes the files of secrets that a change would have had.
func removeSecrets(files map[string][]byte) {
	for path := range files {
		_ = os.Remove(path)
	}
}

// dropUnusedSecrets deletes the files of secrets that neither the configuration nor one of its backups names.
func (a *App) dropUnusedSecrets(current *config.Snapshot) {
	files, err := os.ReadDir(a.set.SecretsDir())
	if err != nil {
		return
	}
	texts := string(current.Text)
	backups, err := current.Backups(a.set.BackupsDir())
	for _, path := range backups {
		text, failure := os.ReadFile(path)
		texts, err = texts+string(text), errors.Join(err, failure)
	}
	if err != nil {
		a.log.Warn("cannot delete unused secrets", "error", err)
		return
	}
	for _, f := range files {
		if !strings.Contains(texts, f.Name()) {
			_ = os.Remove(filepath.Join(a.set.SecretsDir(), f.Name()))
		}
	}
}
