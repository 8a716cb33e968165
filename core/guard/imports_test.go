package guard

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// edge is a rule about who may import what of this project.
type edge struct {
	// from are the folders that the rule is about.
	from []string
	// except are folders below from that it is not about.
	except []string
	// may are the folders of ours that they may import.
	may []string
	// advice says what to do instead.
	advice string
}

var base = []string{"core/fault", "core/store", "core/queue", "core/cluster", "core/event", "core/secret", "core/httpd", "core/texts", "core/timering",
	"core/lists", "core/privatedir", "core/metric"}

func with(more ...string) []string { return append(append([]string{}, base...), more...) }

// edges are the import rules of the architecture.
func edges() []edge {
	return []edge{
		{from: []string{"sdk"}, may: []string{"sdk"}, advice: "the SDK stands alone: move what it needs into it"},
		{from: []string{"plugins"}, may: []string{"sdk", "plugins"},
			advice: "a plugin knows the SDK only; shared code belongs into plugins/internal"},
		{from: []string{"examples"}, may: []string{"sdk", "examples"}, advice: "an example shows what an author can do, who has the SDK only"},
		{from: []string{"config"}, may: []string{"config", "sdk/schema"}, advice: "the configuration gets schemas handed in"},
		{from: base, may: with("sdk/errs", "sdk/schema", "sdk/tracing"),
			advice: "what all services share knows no service and no plugin kind: take an interface or a value"},
		{from: []string{"core/auth"}, may: with("core/auth"), advice: "auth stands on the shared packages only"},
		{from: []string{"core/plugin"}, may: []string{"core/plugin", "config", "sdk", "core/fault", "core/privatedir"},
			advice: "the plugin host knows no service and no database"},
		{from: []string{"core/notify"}, may: with("core/notify", "core/auth", "core/plugin/client", "sdk"),
			advice: "notifications reach providers through core/plugin/client"},
		{from: []string{"core/services"}, except: []string{"core/services/*/pages", "core/services/*/module"},
			may:    with("core/services", "core/auth", "core/notify", "core/plugin", "config", "sdk"),
			advice: "a service stands on the shared packages, not on the wiring or its pages"},
		{from: []string{"core/services/*/pages"}, may: with("core/services", "core/auth", "core/console/ui", "core/notify/channels"),
			advice: "pages show what their service exports, and the settings of channels"},
		{from: []string{"core/services/*/module"},
			may: with("core/services", "core/auth", "core/notify", "core/plugin", "core/module", "core/console/ui", "core/cli/command", "config",
				"sdk"), advice: "a service is declared by what core/module offers"},
		{from: []string{"core/module"}, may: with("core/module", "core/auth", "core/notify", "core/plugin", "core/console/ui", "sdk"),
			advice: "it says what a service is, and knows none"},
		{from: []string{"core/settings"}, may: with("core/settings", "core/module", "core/auth", "core/notify", "core/plugin", "config", "sdk"),
			advice: "services are handed in as definitions"},
		{from: []string{"core/admin"}, may: with("core/admin", "core/settings", "core/module", "core/auth", "core/plugin", "config", "sdk"),
			advice: "services are handed in as definitions"},
		{from: []string{"core/cli/command"}, may: with("core/auth"), advice: "commands of services stand on it"},
		{from: []string{"core/supervisor"}, may: with("core/supervisor", "core/plugin", "core/auth", "core/settings", "core/console/ui",
			"config", "sdk"), advice: "the supervisor is a process of its own, and knows no service and no database"},
		{from: []string{"core/operator"}, may: with("core/operator", "core/auth"),
			advice: "the wiring hands in what the operator's commands ask for"},
		{from: []string{"core/console"}, may: with("core/console", "core/auth", "core/docs", "sdk/docs"),
			advice: "the console knows no service: each adds its pages as a section"},
		{from: []string{"core/cmd"}, may: []string{"core/cli"}, advice: "main only calls core/cli"},
		{from: []string{"core/internal/testing/testkit"}, may: base, advice: "testkit serves the tests of the shared packages too"},
		{from: []string{"core/internal/testing"}, may: with("core/internal/testing", "core/plugin", "core/auth", "sdk"),
			advice: "test support knows no service"},
	}
}

func TestWhoImportsWhom(t *testing.T) {
	for _, p := range packages(t) {
		for _, e := range edges() {
			if !within(p.local(), e.from...) || within(p.local(), e.except...) {
				continue
			}
			for _, imp := range p.Imports {
				target, ours := strings.CutPrefix(imp, module+"/")
				if ours && !within(target, e.may...) {
					t.Errorf("%s imports %s: %s", p.local(), target, e.advice)
				}
			}
		}
	}
}

func TestTestsOfSharedPackagesKnowNoService(t *testing.T) {
	for _, p := range packages(t) {
		if !within(p.local(), base...) {
			continue
		}
		for _, imp := range p.uses(true) {
			if target, ours := strings.CutPrefix(imp, module+"/"); ours && within(target, "core/services", "core/plugin", "core/app") {
				t.Errorf("a test of %s imports %s: test it where that lives", p.local(), target)
			}
		}
	}
}

func TestServicesAreStrangers(t *testing.T) {
	name := func(path string) string {
		rest, ok := strings.CutPrefix(path, "core/services/")
		if !ok {
			return ""
		}
		first, _, _ := strings.Cut(rest, "/")
		return first
	}
	for _, p := range packages(t) {
		own := name(p.local())
		if own == "" {
			continue
		}
		for _, imp := range p.uses(true) {
			if other := name(strings.TrimPrefix(imp, module+"/")); other != "" && other != own {
				t.Errorf("service %s imports service %s: what both need belongs below them", own, other)
			}
		}
	}
}

func TestOnlyTheWiringKnowsAll(t *testing.T) {
	for _, p := range packages(t) {
		for _, imp := range p.Imports {
			switch strings.TrimPrefix(imp, module+"/") {
			case "core/app":
				if !within(p.local(), "core/cli") {
					t.Errorf("%s imports core/app: only core/cli starts the core", p.local())
				}
			case "core/admin":
				if !within(p.local(), "core/cli", "core/app") {
					t.Errorf("%s imports core/admin: it stands on all the others", p.local())
				}
			case "core/cli":
				if !within(p.local(), "core/cmd") {
					t.Errorf("%s imports core/cli: only main does", p.local())
				}
			}
		}
	}
}

// TestTestSupportStaysInTests fails when a package that binaries are built from imports what only tests may use: helpers,
// doubles, and servers that imitate others. Such packages lie in core/internal/testing or in a folder named after what they
// imitate and "test", or import testing; sdk/conformance is also run by "patchbay plugin test".
func TestTestSupportStaysInTests(t *testing.T) {
	folder, support := regexp.MustCompile(`^core/internal/testing/|test(/|$)`), map[string]bool{}
	for _, p := range packages(t) {
		support[p.ImportPath] = folder.MatchString(p.local()) || slices.Contains(p.Imports, "testing") && p.local() != "sdk/conformance"
	}
	if !support[module+"/core/internal/testing/testkit"] || !support[module+"/plugins/internal/dockertest"] {
		t.Fatal("the packages of helpers were not found; have they moved?")
	}
	for _, p := range packages(t) {
		if support[p.ImportPath] || p.local() == "sdk/conformance" {
			continue
		}
		for _, imp := range p.Imports {
			if support[imp] {
				t.Errorf("%s imports %s outside its tests", p.local(), strings.TrimPrefix(imp, module+"/"))
			}
		}
	}
}

// TestServicesAreListed: what a service consists of is imported by its declaration alone, and that by the list of the core.
func TestServicesAreListed(t *testing.T) {
	for _, p := range packages(t) {
		for _, imp := range p.Imports {
			target, ours := strings.CutPrefix(imp, module+"/")
			if !ours || !within(target, "core/services") {
				continue
			}
			parts := strings.Split(target, "/")
			if own := strings.Join(parts[:3], "/"); !within(p.local(), own) && (p.local() != "core/app" || target != own+"/module") {
				t.Errorf("%s imports %s: core/app/modules.go lists services, and %s/module says all about one", p.local(), target, own)
			}
		}
	}
}

// TestForeignModules says which folders may use a module of others directly.
func TestForeignModules(t *testing.T) {
	rules := []struct {
		module string
		may    []string
		advice string
	}{
		{"github.com/hashicorp/hcl", []string{"config"}, "HCL is read in config alone: add what is missing there"},
		{"github.com/docker", []string{"plugins/engine/docker"}, "the container engine is reached through its plugin"},
		{"github.com/moby", []string{"plugins/engine/docker"}, "the container engine is reached through its plugin"},
		{"github.com/compose-spec", []string{"plugins/engine/docker", "core/services/containers"},
			"compose files concern the containers service and its engine"},
		{"github.com/gin-gonic/gin", []string{"core/httpd", "core/services", "core/console", "core/supervisor", "core/auth", "core/app",
			"core/internal/testing/webtest", "plugins/internal/bench"}, "HTTP is for handlers"},
		{"gorm.io", []string{"core/store", "core/queue", "core/auth", "core/services", "core/notify", "core/internal/testing/testkit"},
			"the database is reached through a package that owns its tables"},
		{"github.com/hashicorp/go-plugin", []string{"core/plugin", "core/internal/testing/testplugin", "sdk", "plugins/internal/bench"},
			"processes of plugins are core/plugin's"},
		{"go.opentelemetry.io/otel/sdk", []string{"sdk/tracing/otlp"},
			"who makes spans needs no exporter: it stays out of plugins that are not traced"},
		{"go.opentelemetry.io/otel/exporters", []string{"sdk/tracing/otlp"},
			"who makes spans needs no exporter: it stays out of plugins that are not traced"},
	}
	for _, p := range packages(t) {
		for _, imp := range p.Imports {
			for _, r := range rules {
				if within(imp, r.module) && !within(p.local(), r.may...) {
					t.Errorf("%s imports %s: %s", p.local(), imp, r.advice)
				}
			}
		}
	}
}

func TestWhatThePluginSideDragsAlong(t *testing.T) {
	heavy := []string{"github.com/gin-gonic/gin", "gorm.io", "github.com/docker", "github.com/moby", "github.com/hashicorp/hcl",
		"github.com/mattn/go-sqlite3", "github.com/jackc/pgx"}
	for _, p := range packages(t) {
		if !within(p.local(), "sdk", "plugins", "examples") ||
			within(p.local(), "plugins/engine/docker", "plugins/cmd", "plugins/internal/bench", "plugins/internal/e2e") {
			continue
		}
		for _, dep := range p.Deps {
			if within(dep, heavy...) {
				t.Errorf("%s depends on %s, through whatever it imports: an author's dependencies must stay small", p.local(), dep)
			}
		}
	}
}

// TestNoServiceReachesOut holds for the core as a whole: outside systems are a plugin's business. The database is the core's own, and
// core/store calls the programs of its server to copy it.
func TestNoServiceReachesOut(t *testing.T) {
	for _, p := range packages(t) {
		if !within(p.local(), "core/services", "core/queue", "core/store", "core/event", "core/notify") {
			continue
		}
		for _, imp := range p.Imports {
			if imp == "net/smtp" || imp == "os/exec" && p.local() != "core/store" {
				t.Errorf("%s imports %s: the core reaches nothing outside except through a plugin", p.local(), imp)
			}
		}
	}
}

// TestEventStreamsAreOneFunction: handlers answer with events by auth.StreamEvents, which keeps to the limits, ends with the caller's
// session and sends heartbeats. The others are parts of pages, and answers that end by themselves.
func TestEventStreamsAreOneFunction(t *testing.T) {
	own := []string{"core/auth/visitor.go", "core/console/ui/stream.go", "core/console/ui/tail.go", "core/services/search/api/keys_batch.go",
		"core/services/search/api/mcp/exchange.go"}
	found, err := filepath.Glob(filepath.Join(root(t), "core/*/*.go"))
	for _, deeper := range []string{"core/*/*/*.go", "core/*/*/*/*.go", "core/*/*/*/*/*.go"} {
		more, failed := filepath.Glob(filepath.Join(root(t), deeper))
		found, err = append(found, more...), errors.Join(err, failed)
	}
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range found {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rel, _ := filepath.Rel(root(t), file)
		if strings.HasSuffix(file, "_test.go") || !strings.Contains(string(code), "httpd.NewEvents(") {
			continue
		}
		if seen++; !slices.Contains(own, rel) {
			t.Errorf("%s begins a stream of events by itself: use auth.StreamEvents", rel)
		}
	}
	if seen != len(own) {
		t.Errorf("%d files begin streams, want %d", seen, len(own))
	}
}
