package app

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/reference"
	"github.com/patchbay-dev/patchbay/core/settings"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// generated is the last sentence of the introduction of each document that a test writes.
const generated = "This page is generated from the code."

// TestSettingsReference keeps reference-settings.md.
func TestSettingsReference(t *testing.T) {
	opts, err := settings.Source{Services: Modules()}.FileOptions(nil)
	must(t, err)
	instance, err := config.InstanceArguments()
	must(t, err)
	var b strings.Builder
	b.WriteString("# Settings\n\nEvery setting of `plugin.hcl` outside of the plugins. [Configuration](configuration.md) explains them by what you " +
		"want to do, and [Settings of plugins](reference-plugins.md) has the rest. " + generated + "\n\nPatchbay takes a value from its " +
		"environment variable if that is set and not empty, else from the file, else from the default.\n")
	writeBlock(t, &b, `core`, opts.Core)
	for _, name := range slices.Sorted(maps.Keys(opts.Storage)) {
		writeBlock(t, &b, fmt.Sprintf("storage %q", name), opts.Storage[name])
	}
	writeBlock(t, &b, "Every instance of a plugin", instance)
	for _, d := range Modules() {
		writeBlock(t, &b, fmt.Sprintf("service %q", d.Name), opts.Services[d.Name])
	}
	writeBlock(t, &b, "backup", opts.Backup)
	writeBlock(t, &b, "supervisor", opts.Supervisor)
	reference.Compare(t, "reference-settings.md", b.String())
}

// writeBlock writes the heading and the table of a block.
func writeBlock(t *testing.T, b *strings.Builder, heading string, s *schema.Schema) {
	t.Helper()
	fmt.Fprintf(b, "\n## %s\n\n", heading)
	must(t, s.WriteMarkdown(b))
}

var describedMetric = regexp.MustCompile(`^Desc\{fqName: "([^"]*)", help: "((?:[^"\\]|\\.)*)", .*variableLabels: \{([^}]*)\}`)

// TestMetricsReference keeps reference-metrics.md.
func TestMetricsReference(t *testing.T) {
	a := startApp(t, nil)
	found := make(chan *prometheus.Desc)
	go func() {
		a.registry.Describe(found)
		close(found)
	}()
	rows := map[string]string{}
	for d := range found {
		m := describedMetric.FindStringSubmatch(d.String())
		if m == nil {
			t.Fatalf("a metric is described as %s", d)
		}
		if strings.HasPrefix(m[1], "patchbay_") {
			rows[m[1]] = fmt.Sprintf("| `%s` | %s | %s |\n", m[1], quoteAll(strings.Split(m[3], ",")), strings.ReplaceAll(m[2], `\"`, `"`))
		}
	}
	var b strings.Builder
	b.WriteString("# Metrics\n\nWhat `/metrics` on the admin address tells Prometheus. [Observability](observability.md) says what to watch. " +
		generated + "\n\nNo metric has a label for a person, a token, an address or a path. The metrics of Go and of the process (`go_…`, " +
		"`process_…`) are the core's, not its plugins'.\n\n| Metric | Labels | What it counts |\n|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		b.WriteString(rows[name])
	}
	reference.Compare(t, "reference-metrics.md", b.String())
}

// quoteAll returns the names as code, separated by commas.
func quoteAll(names []string) string {
	var out []string
	for _, n := range names {
		if n = strings.TrimSpace(n); n != "" {
			out = append(out, "`"+n+"`")
		}
	}
	return strings.Join(out, ", ")
}

// apiDocument is what the reference of endpoints reads of an OpenAPI document.
type apiDocument struct {
	Info struct{ Title, Description string }
	Tags []struct{ Name, Description string }
	// Paths has the operations by path and method.
	Paths map[string]map[string]struct {
		Summary string
		Tags    []string
		Samples []struct{ Source string } `json:"x-codeSamples"`
	}
}

// policyWords says who may call a route, by its policy.
var policyWords = map[httpd.Policy]string{
	httpd.Public: "everybody", httpd.AccessToken: "access token", httpd.Session: "signed-in user", httpd.Admin: "administrator",
	httpd.APIKey: "user, API key", httpd.Forward: "administrator", httpd.Secret: "shared secret", httpd.Signature: "signature",
}

// TestEndpointsReference keeps reference-endpoints.md: every operation of every API, who may call it, and an example.
func TestEndpointsReference(t *testing.T) {
	a := startApp(t, nil)
	handler, err := a.buildHandler(a.inUse.Load())
	must(t, err)
	mounts, err := a.buildMounts(a.inUse.Load())
	must(t, err)
	var b strings.Builder
	b.WriteString("# Endpoints\n\nEvery call of every API, who may make it, and an example. " + generated + "\n\nA running core shows the same " +
		"with parameters, bodies and answers at `/search/docs`, `/mail/docs`, `/releases/docs`, `/docs` and `/system/api/docs`. In the examples " +
		"`$PATCHBAY` is the address of the core, such as `http://localhost:50883`, `$API_KEY` a key from `patchbay user create`, and `$TOKEN` " +
		"one from `patchbay token create`. Calls marked \"confirm\" also need a passkey check of the last minutes.\n")
	for _, m := range mounts {
		base := strings.TrimSuffix(m.BaseURL, "/")
		if m.Service == httpd.CoreService {
			base = "/system"
		}
		writeEndpoints(t, &b, handler, base, m.Routes)
	}
	reference.Compare(t, "reference-endpoints.md", b.String())
}

// writeEndpoints writes the operations of one API by their tags.
func writeEndpoints(t *testing.T, b *strings.Builder, h http.Handler, base string, routes []httpd.Route) {
	t.Helper()
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, base+"/openapi.json", nil))
	raw, err := io.ReadAll(answer.Body)
	must(t, err)
	var doc apiDocument
	if err := json.Unmarshal(raw, &doc); err != nil || len(doc.Tags) == 0 {
		t.Fatalf("%s/openapi.json: status %d, %d tags: %v", base, answer.Code, len(doc.Tags), err)
	}
	fmt.Fprintf(b, "\n## %s\n", doc.Info.Title)
	for _, tag := range doc.Tags {
		var rows, samples strings.Builder
		for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
			for _, method := range slices.Sorted(maps.Keys(doc.Paths[path])) {
				op := doc.Paths[path][method]
				if !slices.Contains(op.Tags, tag.Name) {
					continue
				}
				call := strings.ToUpper(method) + " " + base + path
				fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", call, describeAccess(t, routes, base, call), op.Summary)
				for _, s := range op.Samples {
					fmt.Fprintf(&samples, "# %s\n%s\n", op.Summary, s.Source)
				}
			}
		}
		if rows.Len() > 0 {
			fmt.Fprintf(b, "\n### %s: %s\n\n| Call | Who | What it does |\n|---|---|---|\n%s\n```bash\n%s```\n",
				doc.Info.Title, tag.Name, &rows, &samples)
		}
	}
}

var routeParameter = regexp.MustCompile(`[:*](\w+)`)

// describeAccess returns who may make a call.
func describeAccess(t *testing.T, routes []httpd.Route, base, call string) string {
	t.Helper()
	for _, r := range routes {
		path := r.Method + " " + base + strings.TrimPrefix(routeParameter.ReplaceAllString(r.Path, "{$1}"), base)
		rest, isRest := strings.CutSuffix(path, "{rest}")
		if path == call || isRest && strings.HasPrefix(call, rest) {
			who := policyWords[r.Policy]
			if r.Confirm {
				who += ", confirm"
			}
			return who
		}
	}
	t.Errorf("%s has no route", call)
	return ""
}
