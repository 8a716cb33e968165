package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"github.com/patchbay-dev/patchbay/sdk/search"
)

var (
	operationPattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	toolPattern      = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
)

func (r *searchRun) checkDescriptor(context.Context) (err error) {
	if r.desc, err = search.ParseDescriptor(r.Kind); err != nil {
		return err
	}
	if len(r.desc.Operations) == 0 {
		return errors.New("there is no operation")
	}
	names, tools := map[string]bool{}, map[string]bool{}
	for _, op := range r.desc.Operations {
		if !operationPattern.MatchString(op.Name) {
			return fmt.Errorf("operation %q does not match %s", op.Name, operationPattern)
		}
		if names[op.Name] {
			return fmt.Errorf("operation %q stands twice", op.Name)
		}
		if op.Tool != "" && (tools[op.Tool] || !toolPattern.MatchString(op.Tool)) {
			return fmt.Errorf("operation %q: tool %q stands twice or does not match %s", op.Name, op.Tool, toolPattern)
		}
		names[op.Name], tools[op.Tool] = true, true
		if err := r.checkOperation(op); err != nil {
			return fmt.Errorf("operation %q: %w", op.Name, err)
		}
	}
	if len(r.cfg.Samples) == 0 {
		r.cfg.Samples = DefaultSamples(r.desc)
	}
	return nil
}

func (r *searchRun) checkOperation(op search.Operation) error {
	if op.Timeout < 0 {
		return fmt.Errorf("the timeout %s is negative", op.Timeout)
	}
	if op.Stream && !r.HasCapability(search.CapStream) {
		return fmt.Errorf("it streams, and the capability %s is missing", search.CapStream)
	}
	for _, t := range op.Price {
		if err := checkPrice(t); err != nil {
			return err
		}
	}
	return inputSchema(op)
}

func checkPrice(t search.PriceTerm) error {
	if t.Unit < 0 || t.Rate < 0 || t.DefaultCount < 0 {
		return errors.New("a price is negative")
	}
	for _, c := range t.Cases {
		if c.Rate < 0 || c.Field == "" {
			return errors.New("a case of a price is negative or names no field")
		}
	}
	return nil
}

// inputSchema checks the schema of the body. Only an operation without a body, that is no tool, may do without one.
func inputSchema(op search.Operation) error {
	if op.InputSchema == "" && op.Tool == "" && len(op.Required) == 0 {
		return nil
	}
	var s struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal([]byte(op.InputSchema), &s); err != nil {
		return fmt.Errorf("its input schema is no JSON object: %w", err)
	}
	if s.Type != "object" {
		return fmt.Errorf("its input schema has the type %q, not object", s.Type)
	}
	for _, name := range op.Required {
		if s.Properties[name] == nil {
			return fmt.Errorf("the member %q is required and not among the properties of its input schema", name)
		}
	}
	return nil
}
