package dockertest

import (
	"archive/tar"
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Behaviour is how an image's program behaves.
type Behaviour struct {
	// Version is in its output, in the variable APP_VERSION and in the label org.opencontainers.image.version.
	Version string
	// Healthcheck gives the image a health check: every second, unhealthy after two failures.
	Healthcheck bool
	// Unhealthy makes the check fail, Crash the program end at once with status 3.
	Unhealthy, Crash bool
	// Ends makes the program end by itself after a second, with the status ExitCode.
	Ends     bool
	ExitCode int
	// SlowStart is how long it takes until the check succeeds; StartPeriod is the check's own.
	SlowStart, StartPeriod time.Duration
	// Answers is the version that it answers with on port 50883, as a core does; "" for no answer.
	Answers string
	// Entrypoint makes the program the image's entrypoint, which "version" may follow, as with a core. Prints is the version
	// that it prints then; "" for Version, "hang" to go on for ever.
	Entrypoint bool
	Prints     string
	// Labels are more labels; PadBytes of random data make the layer larger.
	Labels   map[string]string
	PadBytes int
}

const appPackage = "github.com/patchbay-dev/patchbay/plugins/internal/dockertest/app"

// program is the compiled program; all images share it.
var program = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "dockertest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "app")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, appPackage)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build %s: %w: %s", appPackage, err, text)
	}
	return os.ReadFile(out)
})

var pushed = regexp.MustCompile(`digest: (sha256:[0-9a-f]{64})`)

// App makes an image, pushes it as REGISTRY/repo:tag and returns its digest. The engine does not keep it. Two images are
// never the same, also not with the same behaviour.
func App(t testing.TB, reg *Reg, repo, tag string, b Behaviour) (digest string) {
	t.Helper()
	Engine(t)
	ref := reg.Host + "/" + repo + ":" + tag
	id := Import(t, b)
	defer func() { _, _ = runCommand(nil, nil, "docker", "rmi", "-f", id) }()
	Docker(t, "tag", id, ref)
	out, err := runCommand([]string{"DOCKER_CONFIG=" + reg.DockerConfig}, nil, "docker", "push", ref)
	if err != nil {
		t.Fatalf("push %s: %v", ref, err)
	}
	m := pushed.FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("the push of %s named no digest: %s", ref, out)
	}
	return m[1]
}

// Import makes an image in the engine and returns its id. The caller removes it.
func Import(t testing.TB, b Behaviour) (id string) {
	t.Helper()
	Engine(t)
	layer, err := b.rootLayer()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"import", "--platform", "linux/" + runtime.GOARCH}
	for _, c := range b.imageChanges() {
		args = append(args, "--change", c)
	}
	id, err = runCommand(nil, layer, "docker", append(args, "-")...)
	if err != nil {
		t.Fatalf("import an image: %v", err)
	}
	return id
}

// rootLayer is the root file system, as a tar archive.
func (b Behaviour) rootLayer() (*bytes.Buffer, error) {
	raw, err := program()
	if err != nil {
		return nil, err
	}
	pad := make([]byte, b.PadBytes)
	for i := range pad {
		pad[i] = byte(rand.Int())
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range []struct {
		name string
		mode int64
		data []byte
	}{{"app", 0o755, raw}, {"version", 0o644, []byte(b.Version)}, {"pad", 0o644, pad}} {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.data)), Typeflag: tar.TypeReg}); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.WriteHeader(&tar.Header{Name: "tmp/", Mode: 0o1777, Typeflag: tar.TypeDir}); err != nil {
		return nil, err
	}
	return &out, w.Close()
}

// imageChanges are the image's configuration, in the words of a Dockerfile.
func (b Behaviour) imageChanges() []string {
	env := map[string]string{"APP_VERSION": b.Version}
	if b.Unhealthy {
		env["APP_UNHEALTHY"] = "1"
	}
	if b.Crash {
		env["APP_CRASH"] = "1"
	}
	if b.Ends {
		env["APP_ENDS"] = strconv.Itoa(b.ExitCode)
	}
	if b.Answers != "" {
		env["APP_ANSWERS"] = b.Answers
	}
	if b.SlowStart > 0 {
		env["APP_SLOW_START"] = b.SlowStart.String()
	}
	if b.Prints != "" {
		env["APP_PRINTS"] = b.Prints
	}
	labels := maps.Clone(b.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels["org.opencontainers.image.version"] = b.Version
	program := `CMD ["/app"]`
	if b.Entrypoint {
		program = `ENTRYPOINT ["/app"]`
	}
	out := []string{program, "LABEL patchbay.test=" + strings.ReplaceAll(b.Version, " ", "")}
	for _, k := range slices.Sorted(maps.Keys(env)) {
		out = append(out, fmt.Sprintf("ENV %s=%q", k, env[k]))
	}
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, fmt.Sprintf("LABEL %s=%q", k, labels[k]))
	}
	if b.Healthcheck {
		out = append(out, fmt.Sprintf(`HEALTHCHECK --interval=1s --timeout=3s --retries=2 --start-period=%s CMD ["/app", "health"]`,
			max(b.StartPeriod, time.Second)))
	}
	return out
}
