package app

import (
	"cmp"
	"io"
	"os"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/settings"
)

// newLogger makes the logger that the settings ask for. It leaves out the secrets that are known.
func (a *App) newLogger(c settings.Core) hclog.Logger {
	out := cmp.Or[io.Writer](a.cfg.LogOutput, os.Stderr)
	return hclog.New(&hclog.LoggerOptions{
		Name: "patchbay", Level: hclog.LevelFromString(c.LogLevel), Output: a.redact.Writer(out), JSONFormat: c.LogFormat == "json",
		TimeFormat: "2006-01-02T15:04:05.000Z07:00",
	})
}

// learnSecrets has the log leave out the secrets of settings, and those of instances as soon as they are decoded.
func (a *App) learnSecrets(set *settings.Settings, res *settings.Resolver) {
	res.LearnSecrets = a.redact.Add
	for _, b := range append(set.File.Services(), set.File.Core(), set.File.Storage()) {
		a.redact.Add(b.Secrets()...)
	}
}
