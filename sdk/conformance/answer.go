package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/sdk/conformance/internal/suite"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

func (r *searchRun) checkSamples(ctx context.Context, c *caller) error {
	for _, op := range r.desc.Operations {
		if !slices.ContainsFunc(r.cfg.Samples, func(s Sample) bool { return s.Operation == op.Name && !s.Stream }) {
			return fmt.Errorf("SearchConfig.Samples has none for the operation %q", op.Name)
		}
	}
	for _, s := range r.cfg.Samples {
		if s.Stream {
			continue
		}
		resp, err := c.invokeSample(ctx, r.MainID, s)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Operation, err)
		}
		if err := s.checkResponse(resp); err != nil {
			return fmt.Errorf("%s: %w", s.Operation, err)
		}
		if resp.ResourceID != "" {
			r.resources[s.Operation] = resp.ResourceID
		}
	}
	return nil
}

func (s Sample) checkResponse(resp *search.Response) error {
	if err := s.checkHead(&resp.Head); err != nil {
		return err
	}
	kind, _, err := mime.ParseMediaType(resp.ContentType)
	if err != nil {
		return fmt.Errorf("content type %q: %w", resp.ContentType, err)
	}
	if (kind == "application/json" || strings.HasSuffix(kind, "+json")) && !json.Valid(resp.Body) {
		return errors.New("the body is not the JSON that its content type promises")
	}
	if s.Check != nil {
		return s.Check(resp)
	}
	return nil
}

func (s Sample) checkHead(h *search.Head) error {
	if s.Status == 0 && (h.Status < 200 || h.Status > 299) || s.Status != 0 && h.Status != s.Status {
		return fmt.Errorf("status %d", h.Status)
	}
	if h.Usage != nil && h.Usage.Credits < 0 {
		return fmt.Errorf("%d credits", h.Usage.Credits)
	}
	return nil
}

// sameAnswers compares what the two forms answer. Values may differ from call to call; status, content type and the
// names and types of the members may not.
func (r *searchRun) sameAnswers(ctx context.Context) error {
	if !r.HasCapability(search.CapExchange) {
		return suite.Skip("the plugin does not offer exchange streams")
	}
	collect := func(into *[]string) func(context.Context, *caller) error {
		return func(ctx context.Context, c *caller) error {
			for _, s := range r.cfg.Samples {
				if s.Stream {
					continue
				}
				resp, err := c.invokeSample(ctx, r.MainID, s)
				if errors.Is(err, suite.ErrPanic) {
					return err
				}
				*into = append(*into, s.Operation+": "+describeOutcome(resp, err))
			}
			return nil
		}
	}
	var streams, unary []string
	if err := errors.Join(r.runInForm(ctx, formStreams, collect(&streams)), r.runInForm(ctx, formUnary, collect(&unary))); err != nil {
		return err
	}
	for i := range streams {
		if streams[i] != unary[i] {
			return fmt.Errorf("over streams %s; over unary calls %s", streams[i], unary[i])
		}
	}
	return nil
}

func describeOutcome(resp *search.Response, err error) string {
	if err != nil {
		e := errs.From(err)
		return fmt.Sprintf("error %s %s %s", e.Code, e.Source, e.Reason)
	}
	var v any
	shape := "not JSON"
	if json.Unmarshal(resp.Body, &v) == nil {
		shape = describeShape(v)
	}
	return fmt.Sprintf("%d %s %s", resp.Status, resp.ContentType, shape)
}

// describeShape is the type of a value with, for an object, the names and types of its members.
func describeShape(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var members []string
		for name, value := range v {
			members = append(members, fmt.Sprintf("%s %T", name, value))
		}
		slices.Sort(members)
		return "{" + strings.Join(members, ", ") + "}"
	}
	return fmt.Sprintf("%T", v)
}

func (r *searchRun) checkStreaming(ctx context.Context) error {
	c := search.NewClient(r.Conn, r.MainID, -1)
	defer c.Close()
	if !r.HasCapability(search.CapStream) {
		s, err := r.mustFirst()
		if err != nil {
			return err
		}
		return r.RequireUnsupported("Stream", r.drainStream(ctx, c, s))
	}
	for _, op := range r.desc.Operations {
		if op.Stream && !slices.ContainsFunc(r.cfg.Samples, func(s Sample) bool { return s.Operation == op.Name && s.Stream }) {
			return fmt.Errorf("SearchConfig.Samples has no streamed one for the operation %q", op.Name)
		}
	}
	for _, s := range r.cfg.Samples {
		if !s.Stream {
			continue
		}
		if err := r.drainStream(ctx, c, s); err != nil {
			return fmt.Errorf("%s: %w", s.Operation, err)
		}
	}
	return nil
}

// drainStream reads a streamed answer to its end.
func (r *searchRun) drainStream(ctx context.Context, c *search.Client, s Sample) error {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	st, err := c.Stream(ctx, r.newRequest(s, r.firstSecret()))
	if err != nil {
		return r.InspectError("stream of "+s.Operation, err)
	}
	defer st.Close()
	if err := s.checkHead(&st.Head); err != nil {
		return err
	}
	if kind, _, _ := mime.ParseMediaType(st.Head.ContentType); st.Head.Status < 300 && kind != "text/event-stream" {
		return fmt.Errorf("content type %q", st.Head.ContentType)
	}
	var body []byte
	for {
		chunk, err := st.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return r.InspectError("stream of "+s.Operation, err)
		}
		body = append(body, chunk...)
	}
	r.NoteSecrets("stream of "+s.Operation, string(body))
	if len(body) == 0 {
		return errors.New("the stream is empty")
	}
	if s.Check != nil {
		return s.Check(&search.Response{Head: st.Head, Body: body})
	}
	return nil
}

func (r *searchRun) keyStatus(ctx context.Context) error {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	c := search.NewClient(r.Conn, r.MainID, -1)
	defer c.Close()
	st, err := c.KeyStatus(ctx, r.firstSecret())
	_ = r.InspectError("KeyStatus", err)
	if !r.HasCapability(search.CapKeyStatus) {
		return r.RequireUnsupported("KeyStatus", err)
	}
	if err != nil {
		return err
	}
	r.NoteSecrets("KeyStatus", st.Plan+st.Key.Reason)
	if st.Key.State != search.KeyOK || st.Used < 0 || st.Limit < 0 {
		return fmt.Errorf("a valid key has the state %d, %d of %d credits used", st.Key.State, st.Used, st.Limit)
	}
	if st, err = c.KeyStatus(ctx, schema.Secret("wrong-"+r.cfg.Credential)); err != nil {
		_ = r.InspectError("KeyStatus", err)
		return nil
	}
	r.NoteSecrets("KeyStatus", st.Plan+st.Key.Reason)
	if st.Key.State == search.KeyOK {
		return errors.New("a wrong key is reported as good")
	}
	return nil
}

// checkCredential comes last: it judges all that came back, and the log.
func (r *searchRun) checkCredential(context.Context) error {
	if !r.desc.Credential {
		return suite.Skip("the plugin needs no credential")
	}
	if r.cfg.Credential == "" {
		return errors.New("SearchConfig.Credential is empty")
	}
	return r.CheckLeaks()
}
