package app

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
)

// TestDamagedDatabase overwrites a page below a running core. The first statement that reads it makes the core not ready, writes are
// refused, and the channels are told.
func TestDamagedDatabase(t *testing.T) {
	r, _ := newReloadable(t, map[string]string{"testsearch": testplugin.Well, "testchannel": testplugin.Channel},
		"search \"testsearch\" \"main\" {}\nnotify \"testchannel\" \"ops\" {}\nservice \"search\" { backend = search.main }\n")
	r.start()
	var page struct{ Root, Size int64 }
	must(t, r.store.Tx(t.Context(), "make a table", func(ctx context.Context) error {
		w := r.store.Writer(ctx)
		if err := w.Exec("CREATE TABLE spoiled (data BLOB)").Error; err != nil {
			return err
		}
		if err := w.Exec("INSERT INTO spoiled VALUES (zeroblob(100))").Error; err != nil {
			return err
		}
		return w.Raw("SELECT rootpage AS root, (SELECT page_size FROM pragma_page_size) AS size FROM sqlite_master WHERE name = 'spoiled'").Scan(&page).Error
	}))
	path := r.store.Path()
	must(t, r.Close())
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	_, err = file.WriteAt([]byte(strings.Repeat("\xa5", int(page.Size))), (page.Root-1)*page.Size)
	must(t, err)
	must(t, file.Close())
	r.start()
	if ready := r.checkReadiness(t.Context()); !ready.Ready {
		t.Fatalf("nobody has read the page yet: %+v", ready)
	}
	var n int64
	if err := r.store.DB(t.Context()).Raw("SELECT count(*) FROM spoiled WHERE data <> x'00'").Scan(&n).Error; err == nil {
		t.Fatal("the damage was not read")
	}
	if ready := r.checkReadiness(t.Context()); ready.Ready || !strings.Contains(ready.states()["database"], "restore a backup") {
		t.Errorf("with damaged pages: %+v", ready)
	}
	err = r.store.Tx(t.Context(), "write", func(context.Context) error { return nil })
	if fault.CodeOf(err) != fault.NotReady {
		t.Errorf("a change of a damaged database: %v", err)
	}
	testkit.Eventually(t, eventuallyWithin, func() bool {
		return strings.Contains(r.metrics(),
			`patchbay_plugin_calls_total{ref="notify.ops"} 1`)
	}, "the channel is told")
}
