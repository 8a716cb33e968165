// Package fake holds in-memory doubles of the interfaces of package client, for the tests of services: they answer what
// the test says and remember what they were asked. They start no process.
package fake

import (
	"bytes"
	"context"
	"io"
	"slices"
	"sync"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// Search is a double of client.Search. It is safe for concurrent use.
type Search struct {
	mu         sync.Mutex
	descriptor *search.Descriptor
	describe   error
	answers    map[string][]Answer
	status     func(schema.Secret) (*search.KeyStatus, error)
	index      func() (*search.IndexStatus, error)
	reindexed  int
	requests   []search.Request
}

var _ client.Search = (*Search)(nil)

// Answer is what one call gets: Do if it is set, else Err, else Response. Chunks are what a streamed answer sends after
// the head of Response, and Usage what it ends with.
type Answer struct {
	Response search.Response
	Err      error
	// Do computes the answer; it may wait for ctx.
	Do     func(ctx context.Context, req *search.Request) (*search.Response, error)
	Chunks []string
	Usage  *search.Usage
}

// JSON is an answer with a status and a JSON body.
func JSON(status int, body string) Answer {
	return Answer{Response: search.Response{Head: search.Head{Status: status, ContentType: "application/json"}, Body: []byte(body)}}
}

// NewSearch makes a double with a descriptor. An operation without an answer gets 200 and {}.
func NewSearch(d search.Descriptor) *Search {
	return &Search{descriptor: &d, answers: map[string][]Answer{}}
}

// On appends answers for an operation. Each is given once, in order; the last one stays.
func (s *Search) On(operation string, answers ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[operation] = append(s.answers[operation], answers...)
}

// OnKeyStatus sets what KeyStatus answers.
func (s *Search) OnKeyStatus(f func(schema.Secret) (*search.KeyStatus, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = f
}

// FailDescribe makes Describe fail, as it does after a reload took the instance away; nil ends that.
func (s *Search) FailDescribe(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.describe = err
}

// Requests are the calls of Invoke and Stream so far, in order. Bodies are copies.
func (s *Search) Requests() []search.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Describe implements client.Search.
func (s *Search) Describe() (*search.Descriptor, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.descriptor, s.describe
}

func (s *Search) nextAnswer(req *search.Request) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := *req
	kept.Body = bytes.Clone(req.Body)
	s.requests = append(s.requests, kept)
	queue := s.answers[req.Operation]
	switch len(queue) {
	case 0:
		return JSON(200, "{}")
	case 1:
		return queue[0]
	}
	s.answers[req.Operation] = queue[1:]
	return queue[0]
}

func (a Answer) respond(ctx context.Context, req *search.Request) (*search.Response, error) {
	if ctx.Err() != nil {
		return nil, fault.FromPlugin("search.fake", ctx.Err())
	}
	if a.Do != nil {
		return a.Do(ctx, req)
	}
	if a.Err != nil {
		return nil, a.Err
	}
	resp := a.Response
	resp.Body = bytes.Clone(resp.Body)
	return &resp, nil
}

// Invoke implements client.Search.
func (s *Search) Invoke(ctx context.Context, req *search.Request) (*search.Reply, error) {
	resp, err := s.nextAnswer(req).respond(ctx, req)
	if err != nil {
		return nil, err
	}
	return &search.Reply{Response: *resp}, nil
}

// Stream implements client.Search. An answer without Chunks sends its body as one chunk.
func (s *Search) Stream(ctx context.Context, req *search.Request) (client.SearchStream, error) {
	a := s.nextAnswer(req)
	resp, err := a.respond(ctx, req)
	if err != nil {
		return nil, err
	}
	st := &stream{ctx: ctx, head: resp.Head, usage: a.Usage}
	for _, c := range a.Chunks {
		st.chunks = append(st.chunks, []byte(c))
	}
	if len(a.Chunks) == 0 && len(resp.Body) > 0 {
		st.chunks = [][]byte{resp.Body}
	}
	return st, nil
}

// KeyStatus implements client.Search. Without OnKeyStatus every credential is good.
func (s *Search) KeyStatus(_ context.Context, credential schema.Secret) (*search.KeyStatus, error) {
	s.mu.Lock()
	f := s.status
	s.mu.Unlock()
	if f == nil {
		return &search.KeyStatus{Key: search.KeyVerdict{State: search.KeyOK}}, nil
	}
	return f(credential)
}

// OnIndexStatus sets what IndexStatus answers.
func (s *Search) OnIndexStatus(f func() (*search.IndexStatus, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index = f
}

// IndexStatus implements client.Search. Without OnIndexStatus the index is empty.
func (s *Search) IndexStatus(context.Context) (*search.IndexStatus, error) {
	s.mu.Lock()
	f := s.index
	s.mu.Unlock()
	if f == nil {
		return &search.IndexStatus{}, nil
	}
	return f()
}

// Reindex implements client.Search.
func (s *Search) Reindex(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reindexed++
	return nil
}

// Reindexed returns how often Reindex was called.
func (s *Search) Reindexed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reindexed
}

type stream struct {
	ctx    context.Context
	head   search.Head
	chunks [][]byte
	usage  *search.Usage
	ended  bool
}

func (s *stream) Head() search.Head { return s.head }

func (s *stream) Next() ([]byte, error) {
	if s.ctx.Err() != nil {
		return nil, fault.FromPlugin("search.fake", s.ctx.Err())
	}
	if len(s.chunks) == 0 {
		s.ended = true
		return nil, io.EOF
	}
	chunk := s.chunks[0]
	s.chunks = s.chunks[1:]
	return chunk, nil
}

// Usage is known after the end, as with a real stream.
func (s *stream) Usage() *search.Usage {
	if s.ended && s.usage != nil {
		return s.usage
	}
	return s.head.Usage
}

func (s *stream) Close() {}
