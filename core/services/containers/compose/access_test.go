package compose_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
)

// TestFilesThatAreRead has the names that labels may give to files, each in reach of the process.
func TestFilesThatAreRead(t *testing.T) {
	const good = "services: {a: {image: a}}"
	dir := write(t, map[string]string{
		"stack/compose.yaml": good, "stack/sub/compose.yml": good, "stack/secret": good, "stack/secret.conf": good, "outside/compose.yaml": good,
		"roots/a/compose.yaml": good,
		"stack/vars":           "TAG=1", "outside/vars": "TAG=1", "stack/include.yaml": "include: [../outside/compose.yaml]",
		"stack/environment.yaml": "include: [{path: compose.yaml, env_file: ../outside/vars}]",
	})
	for name, to := range map[string]string{"stack/link.yaml": "../outside/compose.yaml", "stack/typed.yaml": "secret",
		"stack/inside.yaml": "sub/compose.yml", "stack/passwd.yaml": "/etc/passwd", "linked": "stack"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name, workingDir, file, env, kind, detail string
	}{
		{"usual", "stack", "compose.yaml", "vars", "", ""},
		{"below", "stack", "sub/compose.yml", "", "", ""},
		{"link inside", "stack", "inside.yaml", "", "", ""},
		{"linked folder", "linked", "compose.yaml", "", "", ""},
		{"root", "stack", "../roots/a/compose.yaml", "", "", ""},
		{"without an ending", "stack", "secret", "", compose.FileRefused, "end in .yml or .yaml"},
		{"with another ending", "stack", "secret.conf", "", compose.FileRefused, "end in .yml or .yaml"},
		{"outside", "stack", "../outside/compose.yaml", "", compose.FileRefused, "outside of the project's working directory"},
		{"link to the outside", "stack", "link.yaml", "", compose.FileRefused, "outside of the project's working directory"},
		{"link to another ending", "stack", "typed.yaml", "", compose.FileRefused, "end in .yml or .yaml"},
		{"link to a file of the system", "stack", "passwd.yaml", "", compose.FileRefused, "end in .yml or .yaml"},
		{"variables outside", "stack", "compose.yaml", "../outside/vars", compose.FileRefused, "vars: it lies outside"},
		{"include of the outside", "stack", "include.yaml", "", compose.FileRefused, "outside"},
		{"included variables outside", "stack", "environment.yaml", "", compose.FileRefused, "vars: it lies outside"},
		{"system", "/etc", "passwd.yaml", "", compose.FileRefused, "directory of the system"},
		{"process", "/proc/self", "root/tmp/x.yaml", "", compose.FileRefused, "directory of the system"},
		{"whole file system", "/", filepath.Join(dir, "outside/compose.yaml"), "", compose.FileRefused, "outside"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src := compose.Source{Project: "p", WorkingDir: tt.workingDir, Files: []string{tt.file}, Roots: []string{filepath.Join(dir, "roots")}}
			if !filepath.IsAbs(src.WorkingDir) {
				src.WorkingDir = filepath.Join(dir, src.WorkingDir)
			}
			if tt.env != "" {
				src.EnvFiles = []string{tt.env}
			}
			_, err := compose.Load(t.Context(), src)
			var told *compose.Error
			if tt.kind == "" {
				if err != nil || compose.CheckFiles(src) != nil {
					t.Errorf("%v, %v", err, compose.CheckFiles(src))
				}
				return
			}
			if !errors.As(err, &told) || told.Kind != tt.kind || !strings.Contains(told.Detail, tt.detail) {
				t.Errorf("got %v, want %s with %q", err, tt.kind, tt.detail)
			}
		})
	}
}

// TestErrorsQuoteNothing: files that are no compose files, or not good ones, are not seen in errors.
func TestErrorsQuoteNothing(t *testing.T) {
	const secret = "tops3cret"
	for name, text := range map[string]string{
		"list of passwords": "root:" + secret + ":19000:0:99999:7:::\ndaemon:*:19000:0:99999:7:::\n", "scalar": secret,
		"unknown anchor": "a: *" + secret,
		"bad tag":        "a: !!int " + secret, "bad member": "services: {a: {image: a, " + secret + ": 1}}",
		"bad value": "services: {a: {image: a, ports: ['" + secret + ":x']}}",
		"bad root":  secret + ": 1\nservices: {a: {image: a}}", "bad template": "services: {a: {image: 'a${" + secret + "'}}",
		"required": "services: {a: {image: '${A:?" + secret + "}'}}",
		"remote":   "include: ['https://" + secret + "/a.yaml']", "unknown service": "services: {a: {image: a, depends_on: [" + secret + "]}}",
		"unknown network": "services: {a: {image: a, networks: [" + secret + "]}}",
		"type":            "services: {a: {image: a, restart: [" + secret + "]}}", "double": secret + ": 1\n" + secret + ": 2\n",
		"duration": "services: {a: {image: a, stop_grace_period: " + secret + "}}",
		"size":     "services: {a: {image: a, mem_limit: " + secret + "}}",
	} {
		_, err := loadProject(t, write(t, map[string]string{"compose.yaml": text}))
		if err == nil || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "99999") {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := loadProject(t, write(t, map[string]string{"compose.yaml": "services:\n  a:\n    image: a\n    restart: [x]\n"}))
	if err == nil || !strings.Contains(err.Error(), "compose.yaml: line 4: ") {
		t.Errorf("the position is missing: %v", err)
	}
}
