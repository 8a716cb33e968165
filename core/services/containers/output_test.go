package containers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// TestOutputOfFailedContainer: the last lines of a container that failed stand in the log of its job, bounded and without
// secrets.
func TestOutputOfFailedContainer(t *testing.T) {
	for name, fail := range map[string]fake.Step{"exits": fake.Exited(3), "unhealthy": fake.Unhealthy()} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.blog()
			e.engine.ScriptImage(imageID(2), func(d *engine.Detail) {
				fail(d)
				d.Config = &engine.ContainerConfig{ImageConfig: engine.ImageConfig{Env: []string{"DB_PASSWORD=planted-password",
					"DB_URL=postgres://u:planted-in-url@db/x", "MODE=production"}}}
			})
			for n := range 40 {
				e.engine.Write(imageID(2), engine.LogLine{Text: fmt.Sprintf("line %d.", n)})
			}
			e.engine.Write(imageID(2), engine.LogLine{Text: "production: login with planted-password and planted-in-url"},
				engine.LogLine{Text: "api_key=planted-assigned token: 'planted quoted'", Stderr: true}, engine.LogLine{Text: "\x1b[31m<b>red</b>"})
			job, _ := e.updated("blog", "web")
			log := e.logs(job.ID)
			for _, want := range []string{"The last lines of blog-web-1:", "blog-web-1 | line 39.",
				"production: login with [redacted] and [redacted]", "<b>red</b>"} {
				if !strings.Contains(log, want) {
					t.Errorf("%q is missing", want)
				}
			}
			for _, bad := range []string{"planted", "line 12.", "\x1b"} {
				if strings.Contains(log, bad) {
					t.Errorf("%q stands in the log", bad)
				}
			}
			if n := strings.Count(log, "blog-web-1 | "); job.Status != "rolled_back" || n != change.FailedLines {
				t.Errorf("%s with %d lines", job.Status, n)
			}
			if t.Failed() {
				t.Log(log)
			}
		})
	}
}

// TestOutputIsBounded: long lines count by their bytes, and what cannot be read keeps no rollback up.
func TestOutputIsBounded(t *testing.T) {
	e := newEnv(t)
	e.blog()
	e.engine.ScriptImage(imageID(2), fake.Exited(3))
	for n := range 30 {
		e.engine.Write(imageID(2), engine.LogLine{Text: fmt.Sprintf("%d%s", n, strings.Repeat("x", 4000))})
	}
	job, _ := e.updated("blog", "web")
	if n := strings.Count(e.logs(job.ID), "blog-web-1 | "); n != 2 {
		t.Errorf("%d lines of 4000 bytes", n)
	}
	e.engine.Fail("logs", broken())
	job, _ = e.updated("blog", "web")
	if log := e.logs(job.ID); job.Status != "rolled_back" ||
		!strings.Contains(log, "the output of blog-web-1 cannot be read: the engine does not answer") {
		t.Errorf("%s\n%s", job.Status, log)
	}
}
