package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/conformance/internal/suite"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// caller calls instances in one form.
type caller struct {
	run     *searchRun
	streams int
	form    string
	clients map[string]*search.Client
}

// runInForm runs a check in one form.
func (r *searchRun) runInForm(ctx context.Context, form string, do func(context.Context, *caller) error) error {
	c := &caller{run: r, form: form, streams: -1, clients: map[string]*search.Client{}}
	if form == formStreams {
		if !r.HasCapability(search.CapExchange) {
			return suite.Skip("the plugin does not offer exchange streams")
		}
		c.streams = 32
	}
	defer c.closePool()
	return do(ctx, c)
}

func (c *caller) closePool() {
	for _, cl := range c.clients {
		_ = cl.Close()
	}
}

func (c *caller) newClient(id string) *search.Client {
	if c.clients[id] == nil {
		c.clients[id] = search.NewClient(c.run.Conn, id, c.streams)
	}
	return c.clients[id]
}

// invokeSample performs a sample at an instance and keeps an eye on what comes back.
func (c *caller) invokeSample(ctx context.Context, id string, s Sample) (*search.Response, error) {
	return c.invokeWith(ctx, c.newClient(id), s, c.run.firstSecret())
}

func (c *caller) invokeWith(ctx context.Context, cl *search.Client, s Sample, credential schema.Secret) (*search.Response, error) {
	ctx, cancel := c.run.WithTimeout(ctx)
	defer cancel()
	reply, err := cl.Invoke(ctx, c.run.newRequest(s, credential))
	if err != nil {
		return nil, c.run.InspectError("call of "+s.Operation, err)
	}
	where := "answer of " + s.Operation
	c.run.NoteSecrets(where, string(reply.Body))
	c.run.NoteSecrets(where, reply.Key.Reason)
	c.run.NoteSecrets(where, reply.ResourceID)
	return &reply.Response, nil
}

func (r *searchRun) newRequest(s Sample, credential schema.Secret) *search.Request {
	id := s.ResourceID
	if id == "" && s.ResourceFrom != "" {
		id = r.resources[s.ResourceFrom]
	}
	return &search.Request{
		Operation: s.Operation, ResourceID: id, Query: s.Query, Body: []byte(s.Body), Credential: credential, RequestID: "conformance",
	}
}

func (r *searchRun) firstSecret() schema.Secret {
	if !r.desc.Credential {
		return ""
	}
	return schema.Secret(r.cfg.Credential)
}

// instanceAnswers reports whether an instance is there: whatever it says to the first sample counts, save that it does not exist.
func (r *searchRun) instanceAnswers(ctx context.Context, id string) bool {
	s, ok := r.firstSample()
	if !ok {
		return true
	}
	c := search.NewClient(r.Conn, id, -1)
	defer c.Close()
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	_, err := c.Invoke(ctx, r.newRequest(s, r.firstSecret()))
	if err == nil {
		return true
	}
	e := errs.From(err)
	return e.Code != codes.FailedPrecondition && e.Code != codes.NotFound
}

// firstSample is the first sample for Invoke.
func (r *searchRun) firstSample() (Sample, bool) {
	for _, s := range r.cfg.Samples {
		if !s.Stream && s.ResourceFrom == "" {
			return s, true
		}
	}
	return Sample{}, false
}

func (r *searchRun) mustFirst() (Sample, error) {
	if s, ok := r.firstSample(); ok {
		return s, nil
	}
	return Sample{}, suite.Skip("there is no sample for it")
}

func (r *searchRun) unknownInstance(ctx context.Context, c *caller) error {
	s, err := r.mustFirst()
	if err != nil {
		return err
	}
	return r.CheckUnknownInstances(func(id string) error { return suite.ErrorAlone(c.invokeSample(ctx, id, s)) })
}

// isCallerRefusal reports whether an outcome is a refusal that puts the fault where it is: with the caller.
func isCallerRefusal(resp *search.Response, err error) bool {
	if err != nil {
		return errs.From(err).Source == errs.Caller
	}
	return resp.Status >= 400 && resp.Status < 500
}

func describeResponse(resp *search.Response, err error) string {
	if err != nil {
		e := errs.From(err)
		return fmt.Sprintf("an error of source %s, reason %s", e.Source, e.Reason)
	}
	return fmt.Sprintf("status %d", resp.Status)
}

func (r *searchRun) unknownOperation(ctx context.Context, c *caller) error {
	resp, err := c.invokeSample(ctx, r.MainID, Sample{Operation: "conformance_unknown_operation", Body: `{"query":"x"}`})
	if errors.Is(err, suite.ErrPanic) {
		return err
	}
	if err == nil && !isCallerRefusal(resp, nil) {
		return fmt.Errorf("an operation that does not exist is answered with %s", describeResponse(resp, nil))
	}
	return r.requireAlive(ctx, c)
}

// requireAlive reports whether the main instance still answers the first sample.
func (r *searchRun) requireAlive(ctx context.Context, c *caller) error {
	if s, ok := r.firstSample(); ok {
		if _, err := c.invokeSample(ctx, r.MainID, s); err != nil {
			return fmt.Errorf("the next call fails: %w", err)
		}
	}
	return nil
}

func (r *searchRun) badBody(ctx context.Context, c *caller) error {
	bodies := map[string]string{
		"cut JSON": `{"query": "x`, "an array": `[]`, "a string": `"query"`, "a number": `7`, "text": "query=x", "bytes": "\x00\xff\xfe",
		"two objects": `{}{}`, "deep nesting": strings.Repeat("[", 20000),
	}
	for _, s := range r.cfg.Samples {
		if s.Body == "" || s.Stream {
			continue
		}
		for name, body := range bodies {
			bad := s
			bad.Body = body
			resp, err := c.invokeSample(ctx, r.MainID, bad)
			if errors.Is(err, suite.ErrPanic) {
				return err
			}
			if !isCallerRefusal(resp, err) {
				return fmt.Errorf("%s with %s as its body should be refused by a 4xx or an error of the caller; got %s", s.Operation, name,
					describeResponse(resp, err))
			}
		}
	}
	return r.requireAlive(ctx, c)
}

func (r *searchRun) largeBody(ctx context.Context, c *caller) error {
	s, err := r.mustFirst()
	if err != nil {
		return err
	}
	if !strings.HasPrefix(s.Body, "{") {
		return suite.Skip("the first sample has no JSON object as its body")
	}
	padding := `{"conformance_padding":"` + strings.Repeat("x", 1<<20) + `"`
	if strings.TrimSpace(s.Body[1:]) != "}" {
		padding += ","
	}
	s.Body = padding + s.Body[1:]
	resp, err := c.invokeSample(ctx, r.MainID, s)
	switch {
	case errors.Is(err, suite.ErrPanic):
		return err
	case err != nil && errs.From(err).Source == errs.Plugin, err == nil && resp.Status >= 500:
		return fmt.Errorf("a body of 1 MiB should be accepted or refused as the caller's; got %s", describeResponse(resp, err))
	}
	return r.requireAlive(ctx, c)
}

func (r *searchRun) checkConcurrency(ctx context.Context, c *caller) error {
	s, err := r.mustFirst()
	if err != nil {
		return err
	}
	alone, err := c.invokeSample(ctx, r.MainID, s)
	if err != nil {
		return err
	}
	cl := c.newClient(r.MainID)
	return suite.RunTogether(16, func(int) error {
		resp, err := c.invokeWith(ctx, cl, s, r.firstSecret())
		if err == nil && resp.Status != alone.Status {
			err = fmt.Errorf("status %d, alone it was %d", resp.Status, alone.Status)
		}
		return err
	})
}
