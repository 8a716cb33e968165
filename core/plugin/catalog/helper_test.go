package catalog_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
	"github.com/patchbay-dev/patchbay/sdk/kinds"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

func TestMain(m *testing.M) {
	testplugin.Main()
	goleak.VerifyTestMain(m)
}

const within = testplugin.Within

type bench struct {
	t       *testing.T
	host    *host.Host
	catalog *catalog.Catalog
}

func newBench(t *testing.T) *bench {
	t.Helper()
	h := testplugin.NewHost(t)
	c := catalog.New(catalog.Config{
		Host: h, Kinds: append(kinds.All(), kinds.Kind{Name: "other", Service: "patchbay.other.v1.Other"}),
		Version: "1.2.3", UserAgent: "test", Drain: 5 * time.Second,
	})
	t.Cleanup(c.Close)
	return &bench{t: t, host: h, catalog: c}
}

func desired(name, mode, json string) catalog.Desired {
	return catalog.Desired{Kind: search.Kind, Plugin: "testplugin", Name: name, Spec: testplugin.Spec(mode), JSON: []byte(json)}
}

func well(name, json string) catalog.Desired { return desired(name, testplugin.Well, json) }

// open opens the processes for a set of instances.
func (b *bench) open(all []catalog.Desired) []catalog.Wanted {
	b.t.Helper()
	var wanted []catalog.Wanted
	for _, d := range all {
		cand, err := b.catalog.Open(context.Background(), d.Kind, d.Spec)
		if err != nil {
			b.t.Fatal(err)
		}
		wanted = append(wanted, catalog.Wanted{Desired: d, Candidate: cand})
	}
	return wanted
}

func (b *bench) prepare(all ...catalog.Desired) (*catalog.Change, error) {
	b.t.Helper()
	return b.catalog.Prepare(context.Background(), b.open(all), "/")
}

// apply makes a set of instances the running one.
func (b *bench) apply(all ...catalog.Desired) {
	b.t.Helper()
	change, err := b.prepare(all...)
	if err != nil {
		b.t.Fatal(err)
	}
	wait, err := change.Commit(context.Background())
	if err != nil {
		b.t.Fatal(err)
	}
	wait()
}

func (b *bench) handle(ref string) *catalog.Handle {
	b.t.Helper()
	h, err := b.catalog.Handle(ref)
	if err != nil {
		b.t.Fatal(err)
	}
	return h
}

func (b *bench) search(ref string) client.Search { return client.NewSearch(b.handle(ref), nil) }

func ask(s client.Search, op, body string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	reply, err := s.Invoke(ctx, &search.Request{Operation: op, Body: []byte(body)})
	if err != nil {
		return "", err
	}
	defer reply.Release()
	return string(reply.Body), nil
}

func (b *bench) wantAnswer(s client.Search, want string) {
	b.t.Helper()
	if got, err := ask(s, testplugin.OpEcho, ""); err != nil || got != want {
		b.t.Fatalf("answer %q, %v; want %q", got, err, want)
	}
}
