package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// unknownMember is a member that no plugin has.
const unknownMember = "conformance_unknown_member"

// block is a config block that must be refused, with the first step of the path that the diagnostic must have.
type block struct {
	json string
	path string
}

// badBlocks are made from the schema.
func (r *Run) badBlocks() ([]block, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(r.Settings.JSON), &members); err != nil {
		return nil, fmt.Errorf("the config block is no object: %w", err)
	}
	with := func(name, value string) (block, error) {
		changed := map[string]json.RawMessage{name: json.RawMessage(value)}
		for k, v := range members {
			if k != name {
				changed[k] = v
			}
		}
		raw, err := json.Marshal(changed)
		return block{json: string(raw), path: name}, err
	}
	first, err := with(unknownMember, "1")
	if err != nil {
		return nil, err
	}
	out := []block{first}
	for _, a := range r.schema.Attributes {
		b, err := with(a.Name, wrongValue(a.Type))
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return append(out, block{json: `[]`}, block{json: `{"`}), nil
}

func wrongValue(t schema.Type) string {
	switch t {
	case schema.Number, schema.Integer, schema.Bool, schema.StringList, schema.StringMap:
		return `"conformance"`
	}
	return `{"conformance":[1]}`
}

func (r *Run) askValidate(ctx context.Context, json string) (schema.Diagnostics, *pluginv1.Config, error) {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	c, err := r.newConfig("never-configured", json)
	if err != nil {
		return nil, nil, err
	}
	resp, err := r.plugin.Validate(ctx, &pluginv1.ValidateRequest{Config: c})
	if err != nil {
		return nil, c, r.InspectError("validate", err)
	}
	return r.noteDiagnostics("validate", resp.GetDiagnostics()), c, nil
}

// ConfigureInstance makes an instance of a configuration. What the plugin says about it is returned as diagnostics.
func (r *Run) ConfigureInstance(ctx context.Context, id, json string) (schema.Diagnostics, error) {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	c, err := r.newConfig(id, json)
	if err != nil {
		return nil, err
	}
	resp, err := r.plugin.Configure(ctx, &pluginv1.ConfigureRequest{Config: c})
	if err != nil {
		return nil, r.InspectError("configure", err)
	}
	return r.noteDiagnostics("configure", resp.GetDiagnostics()), nil
}

func (r *Run) noteDiagnostics(where string, sent []*pluginv1.Diagnostic) schema.Diagnostics {
	ds := schema.DiagnosticsFromProto(sent)
	for _, d := range ds {
		r.NoteSecrets(where, d.String())
	}
	return ds
}

// MakeInstance makes an instance with the good configuration.
func (r *Run) MakeInstance(ctx context.Context, id string) error {
	ds, err := r.ConfigureInstance(ctx, id, r.Settings.JSON)
	if err != nil {
		return err
	}
	return ds.Err()
}

func (r *Run) checkValidate(ctx context.Context) error {
	ds, c, err := r.askValidate(ctx, r.Settings.JSON)
	if err != nil {
		return err
	}
	if ds.HasErrors() {
		return fmt.Errorf("the good configuration is refused: %w", ds.Err())
	}
	if c.GetDataDir() != "" {
		if entries, err := os.ReadDir(c.GetDataDir()); err != nil || len(entries) > 0 {
			return fmt.Errorf("a validation wrote to the data directory, or removed it: %d entries, %v", len(entries), err)
		}
	}
	if r.Answers(ctx, c.GetInstanceId()) {
		return errors.New("a validation made an instance")
	}
	bad, err := r.badBlocks()
	if err != nil {
		return err
	}
	for _, b := range bad {
		ds, _, err := r.askValidate(ctx, b.json)
		if err != nil {
			return fmt.Errorf("%s: %w", b.json, err)
		}
		if !refusedAt(ds, b.path) {
			return fmt.Errorf("%s should be refused with the path %q, got: %v", b.json, b.path, ds)
		}
	}
	for _, json := range r.Settings.Invalid {
		if ds, _, err := r.askValidate(ctx, json); err != nil || !ds.HasErrors() {
			return fmt.Errorf("%s should be refused, got: %v, %v", json, ds, err)
		}
	}
	return nil
}

func refusedAt(ds schema.Diagnostics, name string) bool {
	for _, d := range ds {
		if d.Severity == schema.Error && (name == "" || len(d.Path) > 0 && d.Path[0] == schema.At(name)[0]) {
			return true
		}
	}
	return false
}

func (r *Run) checkAgreement(ctx context.Context) error {
	bad, err := r.badBlocks()
	if err != nil {
		return err
	}
	for _, json := range r.Settings.Invalid {
		bad = append(bad, block{json: json})
	}
	for _, b := range bad {
		ds, _, err := r.askValidate(ctx, b.json)
		if err != nil || !ds.HasErrors() {
			continue
		}
		if ds, err = r.ConfigureInstance(ctx, "refused", b.json); err != nil {
			return fmt.Errorf("%s: %w", b.json, err)
		}
		if !ds.HasErrors() {
			return fmt.Errorf("the call Configure accepts what Validate refuses: %s", b.json)
		}
		if r.Answers(ctx, "refused") {
			return fmt.Errorf("a refused configuration made an instance: %s", b.json)
		}
	}
	return nil
}

func (r *Run) checkConfigure(ctx context.Context) error {
	r.MainID = "main"
	return r.MakeInstance(ctx, r.MainID)
}

func (r *Run) configureKeeps(ctx context.Context) error {
	if err := r.MakeInstance(ctx, "kept"); err != nil {
		return err
	}
	defer r.DropAfter(ctx, "kept")
	bad, err := r.badBlocks()
	if err != nil {
		return err
	}
	ds, err := r.ConfigureInstance(ctx, "kept", bad[0].json)
	if err != nil {
		return err
	}
	if ds.HasErrors() && !r.Answers(ctx, "kept") {
		return errors.New("a refused configuration took the running instance away")
	}
	return nil
}

func (r *Run) checkReplace(ctx context.Context) error {
	defer r.DropAfter(ctx, "replaced")
	for range 3 {
		if err := r.MakeInstance(ctx, "replaced"); err != nil {
			return err
		}
		if !r.Answers(ctx, "replaced") {
			return errors.New("a replaced instance does not answer")
		}
	}
	return nil
}

func (r *Run) checkTwoInstances(ctx context.Context) error {
	for _, id := range []string{"one", "two"} {
		if err := r.MakeInstance(ctx, id); err != nil {
			return err
		}
	}
	defer r.DropAfter(ctx, "two")
	if !r.Answers(ctx, "one") || !r.Answers(ctx, "two") {
		return errors.New("of two instances one does not answer")
	}
	if err := r.RemoveInstance(ctx, "one"); err != nil {
		return err
	}
	if !r.Answers(ctx, "two") {
		return errors.New("removing one instance ended another")
	}
	return nil
}

func (r *Run) checkRemove(ctx context.Context) error {
	if err := r.MakeInstance(ctx, "removed"); err != nil {
		return err
	}
	for _, id := range []string{"removed", "removed", "never-configured"} {
		if err := r.RemoveInstance(ctx, id); err != nil {
			return fmt.Errorf("remove %q: %w", id, err)
		}
	}
	if r.Answers(ctx, "removed") {
		return errors.New("a removed instance answers")
	}
	return nil
}

// DropAfter ends an instance at the end of a check that is not about that.
func (r *Run) DropAfter(ctx context.Context, id string) { _ = r.RemoveInstance(ctx, id) }

// RemoveInstance removes an instance. An answer that takes longer than Settings.Prompt is an error.
func (r *Run) RemoveInstance(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, r.Settings.Prompt)
	defer cancel()
	_, err := r.plugin.Remove(ctx, &pluginv1.RemoveRequest{InstanceId: id})
	return r.InspectError("remove", err)
}
