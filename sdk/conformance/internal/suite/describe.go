package suite

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"google.golang.org/protobuf/proto"

	"github.com/patchbay-dev/patchbay/sdk/framework"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

var (
	namePattern       = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)
	capabilityPattern = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$`)
	versionPattern    = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)
)

func (r *Run) checkDescribe(ctx context.Context) error {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	first, err := r.plugin.Describe(ctx, &pluginv1.DescribeRequest{})
	if err != nil {
		return r.InspectError("describe", err)
	}
	second, err := r.plugin.Describe(ctx, &pluginv1.DescribeRequest{})
	if err != nil {
		return r.InspectError("describe", err)
	}
	if !proto.Equal(first, second) {
		return errors.New("two Describe calls answer differently")
	}
	if !namePattern.MatchString(first.GetName()) {
		return fmt.Errorf("name %q does not match %s", first.GetName(), namePattern)
	}
	if !versionPattern.MatchString(first.GetVersion()) {
		return fmt.Errorf("version %q is not semantic", first.GetVersion())
	}
	for _, k := range first.GetKinds() {
		if k.GetName() == r.word && k.GetService() == r.service {
			if r.Kind != nil {
				return fmt.Errorf("the kind %q is declared twice", r.word)
			}
			r.Kind = k
		}
	}
	if r.Kind == nil {
		return fmt.Errorf("no kind %q with the service %s", r.word, r.service)
	}
	return nil
}

func (r *Run) checkCapabilities(context.Context) error {
	seen := map[string]bool{}
	for _, c := range r.Kind.GetCapabilities() {
		if !capabilityPattern.MatchString(c) {
			return fmt.Errorf("capability %q is not in upper snake case", c)
		}
		if seen[c] {
			return fmt.Errorf("capability %q stands twice", c)
		}
		seen[c] = true
	}
	if seen[framework.CapExclusive] && !seen[framework.CapDataDir] {
		return fmt.Errorf("%s says nothing without %s", framework.CapExclusive, framework.CapDataDir)
	}
	return nil
}

func (r *Run) configSchema(context.Context) (err error) {
	r.schema, err = schema.FromProto(r.Kind.GetConfig())
	if err == nil && proto.Size(r.Kind.GetConfig()) > schema.MaxSize {
		err = fmt.Errorf("the schema has more than %d bytes", schema.MaxSize)
	}
	return err
}
