package client_test

import (
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
)

// startInstances starts the test plugin's processes and the instances in them. retire takes the instances away.
func startInstances(t *testing.T, instances ...catalog.Desired) (handles []*catalog.Handle, retire func()) {
	t.Helper()
	c := catalog.New(catalog.Config{Host: testplugin.NewHost(t), Drain: 5 * time.Second})
	t.Cleanup(c.Close)
	apply := func(wanted ...catalog.Wanted) {
		t.Helper()
		ch, err := c.Prepare(t.Context(), wanted, "/")
		if err != nil {
			t.Fatal(err)
		}
		done, err := ch.Commit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		done()
	}
	var wanted []catalog.Wanted
	for _, d := range instances {
		d.Plugin, d.JSON = "testplugin", []byte(`{}`)
		cand, err := c.Open(t.Context(), d.Kind, d.Spec)
		if err != nil {
			t.Fatal(err)
		}
		wanted = append(wanted, catalog.Wanted{Desired: d, Candidate: cand})
	}
	apply(wanted...)
	for _, w := range wanted {
		handle, err := c.Handle(w.Desired.Ref())
		if err != nil {
			t.Fatal(err)
		}
		handles = append(handles, handle)
	}
	return handles, func() { apply() }
}
