package fake_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

func TestInvoke(t *testing.T) {
	s := fake.NewSearch(search.Descriptor{Credential: true})
	failure := errors.New("as told")
	s.On("search", fake.JSON(429, `{"slow":1}`), fake.Answer{Err: failure}, fake.JSON(200, `{"last":1}`))
	body := []byte(`{"query":"x"}`)
	call := func(op string) (int, string, error) {
		reply, err := s.Invoke(context.Background(), &search.Request{Operation: op, Body: body, Credential: "k"})
		if err != nil {
			return 0, "", err
		}
		defer reply.Release()
		return reply.Status, string(reply.Body), nil
	}
	if status, got, err := call("search"); status != 429 || got != `{"slow":1}` || err != nil {
		t.Errorf("first: %d %q %v", status, got, err)
	}
	if _, _, err := call("search"); !errors.Is(err, failure) {
		t.Errorf("second: %v", err)
	}
	for range 2 {
		if status, got, err := call("search"); status != 200 || got != `{"last":1}` || err != nil {
			t.Errorf("last: %d %q %v", status, got, err)
		}
	}
	if status, got, err := call("other"); status != 200 || got != "{}" || err != nil {
		t.Errorf("default: %d %q %v", status, got, err)
	}
	body[0] = '!'
	if r := s.Requests(); len(r) != 5 || string(r[0].Body) != `{"query":"x"}` || r[4].Operation != "other" {
		t.Errorf("requests %+v", r)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var f *fault.Error
	if _, err := s.Invoke(ctx, &search.Request{Operation: "other"}); !errors.As(err, &f) || f.Code != fault.ClientClosedRequest {
		t.Errorf("cancelled: %v", err)
	}
}

func TestStreamAndTheRest(t *testing.T) {
	s := fake.NewSearch(search.Descriptor{})
	s.On("research", fake.Answer{Response: search.Response{Head: search.Head{Status: 200}}, Chunks: []string{"a", "b"},
		Usage: &search.Usage{Credits: 4}})
	st, err := s.Stream(context.Background(), &search.Request{Operation: "research"})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var got string
	for {
		chunk, err := st.Next()
		if err == io.EOF {
			break
		}
		if st.Usage() != nil {
			t.Error("the usage is known too early")
		}
		got += string(chunk)
	}
	if got != "ab" || st.Usage().Credits != 4 || st.Head().Status != 200 {
		t.Errorf("got %q, usage %v", got, st.Usage())
	}
	gone := errors.New("gone")
	s.FailDescribe(gone)
	if _, err := s.Describe(); !errors.Is(err, gone) {
		t.Errorf("describe: %v", err)
	}
	if ks, err := s.KeyStatus(context.Background(), "k"); err != nil || ks.Key.State != search.KeyOK {
		t.Errorf("key status: %+v, %v", ks, err)
	}
	s.OnKeyStatus(func(schema.Secret) (*search.KeyStatus, error) { return nil, gone })
	if _, err := s.KeyStatus(context.Background(), "k"); !errors.Is(err, gone) {
		t.Errorf("key status: %v", err)
	}
	if is, err := s.IndexStatus(context.Background()); err != nil || is.Documents != 0 {
		t.Errorf("index status: %+v, %v", is, err)
	}
	s.OnIndexStatus(func() (*search.IndexStatus, error) { return &search.IndexStatus{Documents: 3}, nil })
	if is, err := s.IndexStatus(context.Background()); err != nil || is.Documents != 3 {
		t.Errorf("index status: %+v, %v", is, err)
	}
	if err := s.Reindex(context.Background()); err != nil || s.Reindexed() != 1 {
		t.Errorf("reindex: %d, %v", s.Reindexed(), err)
	}
}
