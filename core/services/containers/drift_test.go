package containers

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/drift"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// madeOf is a blog whose container was made with a configuration, and whose files say the rest. The container is what
// compose would make of a file that says nothing.
func (e *env) madeOf(text string, change func(*engine.Detail)) {
	e.Helper()
	e.blog()
	e.file("blog/compose.yaml", text)
	config := engine.ImageConfig{Env: []string{"PATH=/bin", "VERSION=1"}, Command: []string{"serve"}, User: "app", WorkingDir: "/srv"}
	e.engine.ConfigureImage(imageID(1), config)
	e.engine.ScriptContainer(e.engine.ContainersOf("blog", "web")[0].ID, func(d *engine.Detail) {
		d.State, d.Health, d.RestartPolicy = "running", "healthy", "no"
		d.Config = &engine.ContainerConfig{ImageConfig: config, NetworkMode: "blog_default", Networks: []string{"blog_default"},
			IPCMode: "private"}
		d.Config.Env = slices.Clone(config.Env)
		change(d)
	})
}

const webFile = "services:\n  web:\n    image: " + webRepo + ":1\n"

func TestDrift(t *testing.T) {
	tests := map[string]struct {
		file       string
		running    func(*engine.Detail)
		want       []drift.Drift
		unresolved []string
	}{
		"as the files say": {},
		"explained by the image": {
			file: "    labels: {a: b}\n", running: func(d *engine.Detail) { d.Labels = cloneWith(d.Labels, "a", "b") },
		},
		"environment": {
			file: "    environment: {ADDED: \"1\", CHANGED: new, SAME: x}\n",
			running: func(d *engine.Detail) {
				d.Config.Env = append(d.Config.Env, "CHANGED=old", "SAME=x", "REMOVED=1", "HTTP_PROXY=http://p", "affinity:container==x")
			},
			want: []drift.Drift{{Field: "environment", Name: "ADDED", Change: drift.Added},
				{Field: "environment", Name: "CHANGED", Change: drift.Changed}, {Field: "environment", Name: "REMOVED", Change: drift.Removed}},
		},
		"a variable of the image that was set otherwise": {
			running: func(d *engine.Detail) { d.Config.Env = []string{"PATH=/bin", "VERSION=2"} },
			want:    []drift.Drift{{Field: "environment", Name: "VERSION", Change: drift.Changed}},
		},
		"unresolved": {
			file: "    environment: [\"DB_PASSWORD=${DB_PASSWORD}\", PASSED]\n    command: serve --token ${TOKEN}\n",
			running: func(d *engine.Detail) {
				d.Config.Env = append(d.Config.Env, "DB_PASSWORD=geheim", "PASSED=too")
				d.Config.Command = []string{"serve", "--token", "x"}
			},
			unresolved: []string{"DB_PASSWORD", "PASSED", "TOKEN"},
		},
		"unresolved before as now": {
			file: "    environment: [\"EMPTY=${EMPTY}\"]\n", running: func(d *engine.Detail) { d.Config.Env = append(d.Config.Env, "EMPTY=") },
		},
		"program": {
			file: "    command: other\n    user: root\n    working_dir: /x\n",
			want: []drift.Drift{{Field: "command", Name: "", Change: drift.Changed}, {Field: "user", Name: "", Change: drift.Changed},
				{Field: "workingDir", Name: "", Change: drift.Changed}},
		},
		"an entrypoint drops the command of the image": {
			file: "    entrypoint: /run\n", running: func(d *engine.Detail) { d.Config.Entrypoint, d.Config.Command = []string{"/run"}, nil },
		},
		"mounts": {
			file: "    volumes: [\"data:/data\", \"/srv/conf:/conf:ro\", \"/new:/new\", /scratch]\nvolumes: {data: {}}\n",
			running: func(d *engine.Detail) {
				d.Mounts = []engine.Mount{
					{Type: "volume", Name: "blog_data", Destination: "/data"}, {Type: "bind", Source: "/srv/conf", Destination: "/conf"},
					{Type: "volume", Name: strings.Repeat("a", 64), Destination: "/scratch"},
					{Type: "volume", Name: strings.Repeat("b", 64), Destination: "/of-the-image"},
					{Type: "volume", Name: "other", Destination: "/gone"},
				}
			},
			want: []drift.Drift{{Field: "mount", Name: "/conf", Change: drift.Changed}, {Field: "mount", Name: "/gone", Change: drift.Removed},
				{Field: "mount", Name: "/new", Change: drift.Added}},
		},
		"networks": {
			running: func(d *engine.Detail) { d.Config.Networks = []string{"blog_back"} },
			want: []drift.Drift{{Field: "network", Name: "blog_back", Change: drift.Removed},
				{Field: "network", Name: "blog_default", Change: drift.Added}},
		},
		"a namespace of another": {file: "    network_mode: host\n",
			want: []drift.Drift{{Field: "networkMode", Name: "", Change: drift.Changed}}},
		"ports limits and the rest": {
			file: "    ports: [\"80:80\"]\n    mem_limit: 1m\n    cpus: 0.5\n    pids_limit: 9\n    restart: always\n    privileged: true\n    cap_add: [NET_ADMIN]\n    labels: {a: c}\n",
			running: func(d *engine.Detail) {
				d.Config.Ports = []string{"0.0.0.0:81:80/tcp"}
				d.Labels = cloneWith(cloneWith(d.Labels, "a", "b"), "gone", "1")
			},
			want: []drift.Drift{
				{Field: "capabilities", Name: "", Change: drift.Changed}, {Field: "cpus", Name: "", Change: drift.Changed},
				{Field: "label", Name: "a", Change: drift.Changed}, {Field: "label", Name: "gone", Change: drift.Removed},
				{Field: "memory", Name: "", Change: drift.Changed},
				{Field: "pids", Name: "", Change: drift.Changed}, {Field: "port", Name: ":80:80/tcp", Change: drift.Added},
				{Field: "port", Name: ":81:80/tcp", Change: drift.Removed}, {Field: "privileged", Name: "", Change: drift.Changed},
				{Field: "restart", Name: "", Change: drift.Changed},
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			change := tt.running
			if change == nil {
				change = func(*engine.Detail) {}
			}
			e.madeOf(webFile+tt.file, change)
			got, err := e.svc.drift.Compare(t.Context(), e.stackOf("blog"), e.serviceOf("blog", "web"))
			e.must(err)
			if tt.want == nil {
				tt.want = []drift.Drift{}
			}
			if tt.unresolved == nil {
				tt.unresolved = []string{}
			}
			if diff := cmp.Diff(tt.want, got.Drift) + cmp.Diff(tt.unresolved, got.Unresolved); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestDriftNeedsConsent: what differs is in the plan, and is only applied where it is allowed.
func TestDriftNeedsConsent(t *testing.T) {
	e := newEnv(t)
	e.madeOf(webFile+"    environment: {ADDED: \"1\"}\n", func(*engine.Detail) {})
	req := requestOf(e.serviceOf("blog", "web"))
	_, err := e.svc.Update(t.Context(), req)
	if f := fault.As(err); err == nil || f.Code != fault.Conflict || f.Ext["reason"] != "drift" ||
		!strings.Contains(f.Message, "environment ADDED") {
		t.Fatalf("without consent: %+v", err)
	}
	req.Mode = change.ModeDryRun
	id, err := e.svc.Update(t.Context(), req)
	e.must(err)
	var plan change.Plan
	e.must(record.DecodeColumn(e.ended(id).Summary, &plan))
	if diff := cmp.Diff([]drift.Drift{{Field: "environment", Name: "ADDED", Change: drift.Added}}, plan.Services[0].Drift); diff != "" {
		t.Error(diff)
	}
	req.Mode, req.AllowDrift = change.ModeApply, true
	id, err = e.svc.Update(t.Context(), req)
	e.must(err)
	if job := e.ended(id); job.Status != "success" || e.runs("blog", "web") != imageID(2) {
		t.Errorf("with consent: %+v", job)
	}
}

// TestDriftWhileQueued: an edit that is made after the request is noticed before anything is changed.
func TestDriftWhileQueued(t *testing.T) {
	e := newEnv(t)
	e.madeOf(webFile, func(*engine.Detail) {})
	id, release := e.heldBack()
	e.file("blog/compose.yaml", webFile+"    environment: {ADDED: \"1\"}\n")
	release()
	if job := e.ended(id); job.Status != "failed" || !strings.Contains(job.ResultReason.Detail, "environment ADDED") ||
		e.runs("blog", "web") != imageID(1) {
		t.Errorf("%+v", job)
	} else if log := e.logs(id); job.ResultReason.Summary != "A check before the update failed, so nothing was changed." ||
		strings.Contains(log, "pull failed") {
		t.Errorf("the headline is %q\n%s", job.ResultReason.Summary, log)
	}
	if calls := e.engine.CallsOf("pull", "tag", "compose"); len(calls) != 0 {
		t.Errorf("something was done: %v", calls)
	}
}

// TestUnresolvedVariableRefuses: no consent makes a service lose a value, which is never shown.
func TestUnresolvedVariableRefuses(t *testing.T) {
	e := newEnv(t)
	e.madeOf(webFile+"    environment: {DB_PASSWORD: \"${DB_PASSWORD}\"}\n",
		func(d *engine.Detail) { d.Config.Env = append(d.Config.Env, "DB_PASSWORD=geheim") })
	req := requestOf(e.serviceOf("blog", "web"))
	req.AllowDrift = true
	_, err := e.svc.Update(context.Background(), req)
	if f := fault.As(err); err == nil || f.Ext["reason"] != "unresolved_variables" || !strings.Contains(f.Message, "DB_PASSWORD") ||
		strings.Contains(f.Message, "geheim") {
		t.Fatalf("%+v", err)
	}
	e.file("blog/.env", "DB_PASSWORD=geheim\n")
	id, err := e.svc.Update(context.Background(), req)
	e.must(err)
	if job := e.ended(id); job.Status != "success" {
		t.Errorf("%+v", job)
	}
}
