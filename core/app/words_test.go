package app

import (
	"io/fs"
	"testing"

	"github.com/patchbay-dev/patchbay/core/console/ui"
)

// TestNamesHaveWords: every action of the audit and every type of job has a text for people.
func TestNamesHaveWords(t *testing.T) {
	a := startApp(t, nil)
	sections, err := a.serviceSections(a.set)
	must(t, err)
	sources := []fs.FS{ui.OwnTexts()}
	for _, s := range sections {
		sources = append(sources, s.Texts)
	}
	texts, err := ui.NewTexts(sources...)
	must(t, err)
	mounts, err := a.buildMounts(a.set)
	must(t, err)
	for _, m := range mounts {
		for _, r := range m.Routes {
			if action := r.AuditAction(m.Service); action != "" && !texts.Known("action."+action) {
				t.Errorf("%s %s: there is no text action.%s", r.Method, r.Path, action)
			}
		}
	}
	types := a.queue.Types()
	if len(types) < 10 {
		t.Errorf("only %d types of jobs are registered", len(types))
	}
	for _, name := range types {
		if !texts.Known("job." + name) {
			t.Errorf("there is no text job.%s", name)
		}
	}
}
