// Command notify-minimal is a notification channel that appends one line to a file for each notification.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

type config struct {
	File string `patchbay:"file,required" doc:"The file that gets the lines."`
}

type channel struct{ file string }

func (c channel) Send(_ context.Context, n *notify.Notification, _ notify.Target) (*notify.Receipt, error) {
	f, err := os.OpenFile(c.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, notify.Permanent("CANNOT_OPEN", "open the file: %v", err)
	}
	_, err = fmt.Fprintf(f, "%s %s %q\n", n.ID, n.Severity, n.Title.Plain)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, notify.Unknown("write the file: %v", err)
	}
	return &notify.Receipt{Delivered: []notify.Part{notify.PartTitle}}, nil
}

func build(inst notify.Instance, cfg config) (notify.Open, schema.Diagnostics) {
	if cfg.File == "" {
		return nil, schema.Errorf(schema.At("file"), "must name a file")
	}
	if !filepath.IsAbs(cfg.File) {
		cfg.File = filepath.Join(inst.BaseDir, cfg.File)
	}
	return func(context.Context) (notify.Channel, error) { return channel{cfg.File}, nil }, nil
}

func plugin() framework.Plugin {
	kind := notify.New(notify.Definition[config]{Build: build})
	return framework.Plugin{Name: "notify-minimal", Version: "1.0.0", Summary: "Appends notifications to a file.",
		Kinds: []framework.Kind{kind}}
}

func main() { framework.Serve(plugin()) }
