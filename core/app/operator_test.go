package app

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/operator"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/queue"
	sdksearch "github.com/patchbay-dev/patchbay/sdk/search"
)

// connectOperator returns a client of a core's socket.
func connectOperator(t *testing.T, a *App) *operator.Client {
	t.Helper()
	c, err := operator.Connect(t.Context(), []string{filepath.Join(a.set.DataDir, operator.SocketName)})
	must(t, err)
	return c
}

// TestOperatorCommandsAreAudited does by the socket what changes something, and looks for the rows with the user who asked.
func TestOperatorCommandsAreAudited(t *testing.T) {
	a := startApp(t, nil)
	c := connectOperator(t, a)
	job, _, err := a.queue.Submit(t.Context(), queue.Submission{Type: "auth.purge", RunAt: time.Now().Add(time.Hour)})
	must(t, err)

	st, err := c.Status(t.Context())
	must(t, err)
	if !st.Ready || st.Version != "test" || st.Jobs.Queued == 0 || len(st.Services) != len(Modules()) || !st.Services[0].Ready ||
		st.LastReload != nil {
		t.Errorf("the status is %+v", st)
	}
	done, err := c.Reload(t.Context())
	must(t, err)
	if !done.Accepted {
		t.Errorf("the reload is %+v", done)
	}
	canceled, err := c.CancelJob(t.Context(), job.ID)
	must(t, err)
	if canceled.State != string(queue.Canceled) {
		t.Errorf("the job is %+v", canceled)
	}
	before := a.operatorPlugin(t, "search.main")
	after, err := c.RestartPlugin(t.Context(), "search.main")
	must(t, err)
	if after.State != "ready" || after.PID == before.PID || after.Restarts != 1 {
		t.Errorf("restarted %+v to %+v", before, after)
	}
	if _, err := c.RestartPlugin(t.Context(), "search.none"); err == nil || !strings.Contains(err.Error(), "search.main") {
		t.Errorf("an unknown instance: %v", err)
	}

	events, _, err := a.users.Journal.Events(t.Context(), auth.EventFilter{Limit: 50})
	must(t, err)
	rows := map[string]bool{}
	for _, e := range events {
		rows[strings.Join([]string{e.Action, e.TargetID, e.Result, e.ActorName, string(e.Via)}, " ")] = true
	}
	by := " uid " + strconv.Itoa(os.Geteuid()) + " command_line"
	for _, want := range []string{
		"core.reload  ok" + by, "core.jobs.cancel " + job.ID + " ok" + by, "core.plugins.restart search.main ok" + by,
		"core.plugins.restart search.none failed" + by,
	} {
		if !rows[want] {
			t.Errorf("the audit has no row %q, but %v", want, rows)
		}
	}
}

// operatorPlugin returns an instance as the socket shows it.
func (a *App) operatorPlugin(t *testing.T, ref string) operator.Plugin {
	t.Helper()
	p, err := operatorPlugins{a}.find(ref)
	must(t, err)
	return p
}

// TestOperatorReloadTellsWhy has a configuration refused: with the place in the file, and in the status until one succeeds.
func TestOperatorReloadTellsWhy(t *testing.T) {
	r, text := newReloadable(t, map[string]string{"testsearch": testplugin.Well},
		"search \"testsearch\" \"main\" {}\nservice \"search\" { backend = search.main }\n")
	r.start()
	c := connectOperator(t, r.App)
	r.write(text + "service \"search\" { backend = 7 }\n")
	done, err := c.Reload(t.Context())
	must(t, err)
	line := strings.Count(text, "\n") + 1
	if done.Accepted || len(done.Diagnostics) == 0 || done.Diagnostics[0].Line != line ||
		!strings.Contains(done.Diagnostics[0].Text, "plugin.hcl line "+strconv.Itoa(line)) {
		t.Errorf("the reload is %+v", done)
	}
	st, err := c.Status(t.Context())
	must(t, err)
	if st.LastReload == nil || st.LastReload.Accepted || st.LastReload.Reason == "" {
		t.Errorf("the last reload is %+v", st.LastReload)
	}
	r.write(text)
	done, err = c.Reload(t.Context())
	must(t, err)
	st, err = c.Status(t.Context())
	must(t, err)
	if !done.Accepted || st.LastReload == nil || !st.LastReload.Accepted {
		t.Errorf("the reload is %+v, the status %+v", done, st.LastReload)
	}
}

// TestOperatorFollowsLogs reads what a plugin writes while it writes it, also after its restart.
func TestOperatorFollowsLogs(t *testing.T) {
	a := startApp(t, nil)
	c := connectOperator(t, a)
	h, err := a.catalog.Handle("search.main")
	must(t, err)
	say := func(text string) {
		t.Helper()
		_, err := client.NewSearch(h, a.metrics.observeCall).Invoke(t.Context(),
			&sdksearch.Request{Operation: testplugin.OpLog, Body: []byte(text)})
		must(t, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), eventuallyWithin)
	defer cancel()
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- c.CopyLogs(ctx, in, "search.main", true) }()
	lines := bufio.NewScanner(out)
	waitFor := func(text string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), text) {
				return
			}
		}
		t.Fatalf("no line says %q", text)
	}
	say("first line")
	waitFor("first line")
	say("second line")
	waitFor("second line")
	_, err = c.RestartPlugin(t.Context(), "search.main")
	must(t, err)
	say("after the restart")
	waitFor("after the restart")
	cancel()
	must(t, <-ended)
	testkit.Eventually(t, eventuallyWithin, func() bool {
		var all strings.Builder
		return c.CopyLogs(t.Context(), &all, "search.main", false) == nil && strings.Count(all.String(), "first line") == 1
	}, "the log has the first line once")
}
