package client_test

import (
	"cmp"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
)

// newCatalog makes a catalog without instances.
func newCatalog(t *testing.T) *catalog.Catalog {
	t.Helper()
	c := catalog.New(catalog.Config{Host: testplugin.NewHost(t), Drain: 5 * time.Second})
	t.Cleanup(c.Close)
	return c
}

// applyInstances makes instances of the test plugin, whatever its name is to be, the only ones of a catalog.
func applyInstances(t *testing.T, c *catalog.Catalog, instances ...catalog.Desired) {
	t.Helper()
	var wanted []catalog.Wanted
	for _, d := range instances {
		d.Plugin, d.JSON = cmp.Or(d.Plugin, "testplugin"), []byte(`{}`)
		cand, err := c.Open(t.Context(), d.Kind, d.Spec)
		if err != nil {
			t.Fatal(err)
		}
		wanted = append(wanted, catalog.Wanted{Desired: d, Candidate: cand})
	}
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

// startInstances starts the test plugin's processes and the instances in them. retire takes the instances away.
func startInstances(t *testing.T, instances ...catalog.Desired) (handles []*catalog.Handle, retire func()) {
	t.Helper()
	c := newCatalog(t)
	applyInstances(t, c, instances...)
	for _, d := range instances {
		handle, err := c.Handle(d.Ref())
		if err != nil {
			t.Fatal(err)
		}
		handles = append(handles, handle)
	}
	return handles, func() { applyInstances(t, c) }
}
