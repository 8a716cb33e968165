package testplugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/patchbay-dev/patchbay/sdk/framework"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// Config is the plugin's config block.
type Config struct {
	Answer string `patchbay:"answer,default=ok" doc:"What echo answers."`
	Reject bool   `patchbay:"reject,default=false" doc:"Refuse this configuration."`
	Unwell string `patchbay:"unwell,default=" doc:"What the instance complains of when asked for its health."`
	// Token is written to standard error when the instance is opened, by itself and by the log.
	Token schema.Secret `patchbay:"token,default=" doc:"A secret that the plugin gives away."`
	// RejectOpen lets Validate pass and fails when the instance is opened.
	RejectOpen bool `patchbay:"reject_open,default=false" doc:"Fail to open."`
}

// Plugin is the declaration.
func Plugin() framework.Plugin { return declarePlugin(baseDefinition()) }

func declarePlugin(def search.Definition[Config]) framework.Plugin {
	return framework.Plugin{Name: "testplugin", Version: "1.0.0", Kinds: []framework.Kind{search.New(def)}}
}

func baseDefinition() search.Definition[Config] {
	def := search.Definition[Config]{Stream: true, KeyStatus: true, Index: true, Build: buildBackend}
	for _, op := range []string{
		OpEcho, OpPanic, OpHang, OpHanging, OpBig, OpCrash, OpEnv, OpGrandchild, OpDaemon, OpFail, OpSlow, OpPID, OpLog,
	} {
		def.Operations = append(def.Operations, search.Operation{Name: op, InputSchema: `{"type":"object"}`, Stream: op == OpEcho})
	}
	return def
}

func buildBackend(inst search.Instance, cfg Config) (search.Open, schema.Diagnostics) {
	if cfg.Reject {
		return nil, schema.Errorf(schema.At("reject"), "rejected as asked")
	}
	return func(context.Context) (search.Backend, error) {
		if cfg.RejectOpen {
			return nil, errors.New("rejected at opening, as asked")
		}
		if cfg.Token != "" {
			fmt.Fprintln(os.Stderr, "written:", cfg.Token.Reveal())
			inst.Log.Warn("logged", "token", cfg.Token.Reveal())
		}
		return &backend{cfg: cfg, log: inst.Log}, nil
	}, nil
}

// exclusivePlugin locks the data directory of an instance for as long as it is open.
func exclusivePlugin() framework.Plugin {
	def := baseDefinition()
	def.DataDir, def.Exclusive = true, true
	def.Build = func(inst search.Instance, cfg Config) (search.Open, schema.Diagnostics) {
		open, diags := buildBackend(inst, cfg)
		if diags.HasErrors() {
			return nil, diags
		}
		return func(ctx context.Context) (search.Backend, error) {
			b, err := open(ctx)
			if err != nil {
				return nil, err
			}
			lock := filepath.Join(inst.DataDir, "lock")
			f, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL, 0o600)
			if err != nil {
				return nil, fmt.Errorf("lock the data directory: %w", err)
			}
			return &locked{backend: b.(*backend), path: lock}, f.Close()
		}, nil
	}
	return declarePlugin(def)
}

type locked struct {
	*backend
	path string
}

// Close gives the data directory free.
func (l *locked) Close() error { return os.Remove(l.path) }

// otherPlugin offers the kind in a version of its own.
func otherPlugin() framework.Plugin {
	p := Plugin()
	p.Kinds = []framework.Kind{otherKind{p.Kinds[0]}}
	return p
}

// oddPlugin offers the kind with an attribute of a type that does not exist.
func oddPlugin() framework.Plugin {
	p := Plugin()
	p.Kinds = []framework.Kind{oddKind{p.Kinds[0]}}
	return p
}

type oddKind struct{ framework.Kind }

func (k oddKind) Describe() (*pluginv1.Kind, error) {
	d, err := k.Kind.Describe()
	if err == nil {
		d.Config.Attributes[0].Type = 99
	}
	return d, err
}

type otherKind struct{ framework.Kind }

func (k otherKind) Describe() (*pluginv1.Kind, error) {
	d, err := k.Kind.Describe()
	if err == nil {
		d.Service = "patchbay.search.v9.Search"
	}
	return d, err
}
