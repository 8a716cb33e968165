package suite

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
)

// NoteSecrets looks for the secrets in a text that came from the plugin.
func (r *Run) NoteSecrets(where, text string) {
	for _, s := range r.Settings.Secrets {
		if s != "" && strings.Contains(text, s) {
			r.mu.Lock()
			r.leaks = append(r.leaks, where)
			r.mu.Unlock()
			return
		}
	}
}

// CheckLeaks looks through the log too, and tells where a secret was found.
func (r *Run) CheckLeaks() error {
	if r.Settings.Logs != nil {
		r.NoteSecrets("log", r.Settings.Logs())
	}
	if err := joinFindings(r.leaks); err != nil {
		return fmt.Errorf("the credential is found in %w", err)
	}
	return nil
}

var reasonPattern = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$`)

// InspectError looks at an error that came from the plugin, and returns it.
func (r *Run) InspectError(where string, err error) error {
	if err == nil {
		return nil
	}
	e := errs.From(err)
	r.NoteSecrets("error of "+where, err.Error())
	r.NoteSecrets("error of "+where, string(e.Upstream.GetBody()))
	if e.Reason == errs.ReasonPanic {
		return errors.Join(ErrPanic, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !mayEndCall(e) && !wellFormed(e) {
		r.malformed = append(r.malformed, fmt.Sprintf("%s: source %q, reason %q", where, e.Source, e.Reason))
	}
	return err
}

// mayEndCall reports whether the error may come from gRPC itself, because the call's context ended or the method is not there.
func mayEndCall(e *errs.Error) bool {
	return e.Code == codes.Canceled || e.Code == codes.DeadlineExceeded || e.Code == codes.Unimplemented || e.Code == codes.ResourceExhausted
}

func wellFormed(e *errs.Error) bool {
	switch e.Source {
	case errs.Caller, errs.Host, errs.Plugin, errs.Upstream:
		return reasonPattern.MatchString(e.Reason)
	}
	return false
}

// CheckUnknownInstances checks the answer to calls of instances that do not exist.
func (r *Run) CheckUnknownInstances(call func(id string) error) error {
	for _, id := range []string{"never-configured", ""} {
		err := call(id)
		if err == nil {
			return fmt.Errorf("a call to the instance %q is answered", id)
		}
		e := errs.From(err)
		if e.Code != codes.FailedPrecondition || e.Reason != errs.ReasonUnknownInstance || e.Source != errs.Host {
			return fmt.Errorf("a call to the instance %q should end with FailedPrecondition, %s, source host; got: %s, %s, source %s",
				id, errs.ReasonUnknownInstance, e.Code, e.Reason, e.Source)
		}
	}
	return nil
}

func (r *Run) checkHealth(ctx context.Context) error {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	for _, id := range []string{"", r.MainID} {
		resp, err := r.plugin.Health(ctx, &pluginv1.HealthRequest{InstanceId: id})
		if err != nil {
			return fmt.Errorf("health of %q: %w", id, r.InspectError("health", err))
		}
		r.NoteSecrets("health", resp.GetMessage())
		if s := resp.GetState(); s != pluginv1.State_STATE_OK {
			return fmt.Errorf("health of %q is %s: %s", id, s, resp.GetMessage())
		}
	}
	if _, err := r.plugin.Health(ctx, &pluginv1.HealthRequest{InstanceId: "never-configured"}); r.InspectError("health", err) == nil {
		return errors.New("an instance that does not exist is healthy")
	}
	return nil
}

const stopGrace = 5 * time.Second

func (r *Run) checkStop(ctx context.Context) error {
	bound, cancel := context.WithTimeout(ctx, 2*stopGrace)
	defer cancel()
	if _, err := r.plugin.Stop(bound, &pluginv1.StopRequest{GraceMs: stopGrace.Milliseconds()}); err != nil {
		return r.InspectError("stop", err)
	}
	if r.Answers(ctx, r.MainID) {
		return errors.New("an instance answers after Stop")
	}
	return nil
}
