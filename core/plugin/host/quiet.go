package host

import (
	"strings"

	"github.com/hashicorp/go-hclog"
)

// quiet logs go-plugin's lines about the end of a process at the level Debug, since the host reports that itself, with the
// reason. Other lines are unchanged.
type quiet struct{ hclog.Logger }

func (q quiet) Error(msg string, args ...any) {
	if strings.HasPrefix(msg, "plugin process exited") {
		q.Logger.Debug(msg, args...)
		return
	}
	q.Logger.Error(msg, args...)
}

func (q quiet) Info(msg string, args ...any) {
	if strings.HasPrefix(msg, "plugin process exited") {
		q.Logger.Debug(msg, args...)
		return
	}
	q.Logger.Info(msg, args...)
}

func (q quiet) Warn(msg string, args ...any) {
	if strings.HasPrefix(msg, "plugin failed to exit gracefully") || strings.HasPrefix(msg, "error closing client") {
		q.Logger.Debug(msg, args...)
		return
	}
	q.Logger.Warn(msg, args...)
}

// Named keeps go-plugin from leaving this filter.
func (q quiet) Named(name string) hclog.Logger { return quiet{q.Logger.Named(name)} }
