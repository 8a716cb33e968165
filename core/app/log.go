package app

import (
	"cmp"
	"io"
	"os"

	"github.com/hashicorp/go-hclog"
)

// newLogger makes the logger that the settings ask for. It leaves out the secrets that are known.
func (a *App) newLogger(c CoreSettings) hclog.Logger {
	out := cmp.Or[io.Writer](a.cfg.LogOutput, os.Stderr)
	return hclog.New(&hclog.LoggerOptions{
		Name: "patchbay", Level: hclog.LevelFromString(c.LogLevel), Output: a.redact.Writer(out), JSONFormat: c.LogFormat == "json",
		TimeFormat: "2006-01-02T15:04:05.000Z07:00",
	})
}

// learnSecrets has the log leave out the secrets of settings, and those of instances as soon as they are decoded.
func (a *App) learnSecrets(set *settings, res *resolver) {
	res.learn = a.redact.Add
	for _, b := range append(set.file.Services(), set.file.Core(), set.file.Storage()) {
		a.redact.Add(b.Secrets()...)
	}
}
