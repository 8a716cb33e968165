package deploy

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// indexType is the media type of an image for several platforms, manifestType that of one for a single platform.
const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
)

// descriptor names a part of an image in a registry.
type descriptor struct {
	MediaType, Digest string
	Platform          struct{ OS, Architecture string }
	Annotations       map[string]string
}

// imageManifest is an index or a manifest.
type imageManifest struct {
	MediaType string
	Manifests []descriptor
	Config    descriptor
	Layers    []descriptor
}

// fetchImage reads a manifest or a blob of a repository, and returns its digest.
func fetchImage(t *testing.T, reg *dockertest.Reg, path string) (content []byte, digest string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+reg.Host+"/v2/"+path, nil)
	kit.Must(t, err)
	req.Header["Accept"] = []string{indexType, manifestType}
	resp, err := http.DefaultClient.Do(req)
	kit.Must(t, err)
	defer resp.Body.Close()
	content, err = io.ReadAll(resp.Body)
	kit.Must(t, err)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d: %s", path, resp.StatusCode, content)
	}
	return content, resp.Header.Get("Docker-Content-Digest")
}

// unpackProgram writes a program of an image into a directory, and returns its name. All files of the image must have the date of the
// commit.
func unpackProgram(t *testing.T, reg *dockertest.Reg, repo string, image imageManifest, program string) string {
	t.Helper()
	date, found := kit.RunHost(t, kit.Root(), "git", "log", "-1", "--format=%ct"), ""
	for _, layer := range image.Layers {
		raw, _ := fetchImage(t, reg, repo+"/blobs/"+layer.Digest)
		z, err := gzip.NewReader(bytes.NewReader(raw))
		kit.Must(t, err)
		for files := tar.NewReader(z); ; {
			file, err := files.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			kit.Must(t, err)
			if got := fmt.Sprint(file.ModTime.Unix()); got != date {
				t.Errorf("%s has the date %s, and the commit %s", file.Name, got, date)
			}
			if file.Name == program {
				out, err := os.OpenFile(filepath.Join(t.TempDir(), "program"), os.O_CREATE|os.O_WRONLY, 0o700)
				kit.Must(t, err)
				_, err = io.Copy(out, files)
				kit.Must(t, errors.Join(err, out.Close()))
				found = out.Name()
			}
		}
	}
	if found == "" {
		t.Fatalf("the image has no %s", program)
	}
	return found
}

// archivedIndex returns the digest of the index in an archive.
func archivedIndex(t *testing.T, archive string) descriptor {
	t.Helper()
	var index imageManifest
	kit.Must(t, json.Unmarshal([]byte(kit.RunHost(t, "", "tar", "-xOf", archive, "index.json")), &index))
	if len(index.Manifests) != 1 {
		t.Fatalf("the archive has the images %+v", index.Manifests)
	}
	return index.Manifests[0]
}

// TestImagePlatforms pushes the image for two platforms under one name: the engine takes that of its own, the programs of the other one are
// for its processor, and nothing but the programs differs.
func TestImagePlatforms(t *testing.T) {
	t.Parallel()
	dockertest.Engine(t)
	_, err := exec.LookPath("aarch64-linux-gnu-gcc")
	testkit.Require(t, "gcc-aarch64-linux-gnu", err == nil, "install gcc-aarch64-linux-gnu and libc6-dev-arm64-cross")
	_, err = exec.LookPath("qemu-aarch64")
	testkit.Require(t, "qemu-user", err == nil, "install qemu-user")
	reg, dir := dockertest.Registry(t, dockertest.RegistryOptions{}), t.TempDir()
	// Any static program does in the place of compose.
	compose := map[string]string{}
	for _, arch := range []string{"amd64", "arm64"} {
		compose[arch] = filepath.Join(dir, "compose-"+arch)
		kit.RunHost(t, kit.Root(), "env", "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=0", "go", "build", "-trimpath", "-o", compose[arch],
			"./plugins/internal/dockertest/app")
	}
	image, release := reg.Host+"/patchbay:dev", filepath.Join(dir, "release")
	args := []string{"image-push", "IMAGE=" + image, "IMAGE_DIR=" + filepath.Join(dir, "image"), "RELEASE_DIR=" + release,
		"IMAGEFLAGS=-unsigned", "COMPOSE_amd64=" + compose["amd64"]}
	if out, err := exec.Command("make", append([]string{"-C", kit.Root(), "ARCHITECTURES=arm64", "COMPOSE_arm64=" + compose["amd64"]},
		args...)...).CombinedOutput(); err == nil ||
		!strings.Contains(string(out), "usr/bin/docker-compose: the program is for EM_X86_64, and the image for EM_AARCH64") {
		t.Errorf("with a program for another processor: %v\n%s", err, kit.LastLines(string(out), 10))
	}
	makeImage(t, append(args, "COMPOSE_arm64="+compose["arm64"])...)

	raw, digest := fetchImage(t, reg, "patchbay/manifests/dev")
	var index imageManifest
	kit.Must(t, json.Unmarshal(raw, &index))
	manifests, configs, platforms := map[string]imageManifest{}, map[string]map[string]any{}, []string{}
	for _, d := range index.Manifests {
		arch := d.Platform.Architecture
		platforms = append(platforms, d.Platform.OS+"/"+arch)
		raw, _ := fetchImage(t, reg, "patchbay/manifests/"+d.Digest)
		var manifest imageManifest
		kit.Must(t, json.Unmarshal(raw, &manifest))
		raw, _ = fetchImage(t, reg, "patchbay/blobs/"+manifest.Config.Digest)
		var config map[string]any
		kit.Must(t, json.Unmarshal(raw, &config))
		if config["architecture"] != arch {
			t.Errorf("the image for %s says %v", arch, config["architecture"])
		}
		delete(config, "architecture")
		delete(config, "rootfs")
		manifests[arch], configs[arch] = manifest, config
	}
	if got := fmt.Sprint(index.MediaType, platforms); got != indexType+"[linux/amd64 linux/arm64]" {
		t.Fatalf("the registry has %s", got)
	}
	if strings.Contains(string(raw), "artifactType") {
		t.Errorf("the images are listed as something else: %s", raw)
	}
	if !reflect.DeepEqual(configs["amd64"], configs["arm64"]) {
		t.Errorf("the configurations differ:\n%v\n%v", configs["amd64"], configs["arm64"])
	}
	archive := filepath.Join(release, "patchbay_0.1.0-dev_linux.oci.tar")
	if got := archivedIndex(t, archive); got.Digest != digest || got.Annotations["org.opencontainers.image.ref.name"] != "0.1.0-dev" {
		t.Errorf("the archive has %+v, and the registry %s", got, digest)
	}
	kit.RunHost(t, release, "sha256sum", "-c", "SHA256SUMS")

	dockertest.Docker(t, "pull", "-q", image)
	version := dockertest.Docker(t, "run", "--rm", image, "version")
	if told := strings.TrimSpace(dockertest.Docker(t, "inspect", "-f",
		"{{.Architecture}} {{.RepoDigests}} {{.Config.User}} {{.Config.Entrypoint}} {{.Config.Healthcheck.Test}} {{.Config.Volumes}}",
		image)); told !=
		"amd64 ["+reg.Host+"/patchbay@"+digest+"] 10001:10001 [/bin/patchbay] [CMD /bin/patchbay health] map[/data:{}]" {
		t.Errorf("the engine has pulled %s", told)
	}
	out, err := exec.Command("qemu-aarch64", unpackProgram(t, reg, "patchbay", manifests["arm64"], "usr/bin/patchbay"),
		"version").CombinedOutput()
	if told := strings.TrimSpace(string(out)); err != nil || told != strings.TrimSpace(version) ||
		!strings.HasPrefix(told, "patchbay 0.1.0-dev") {
		t.Errorf("the core for the other platform tells %q, %v; that for this one %q", told, err, version)
	}
}
