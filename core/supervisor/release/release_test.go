package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"aead.dev/minisign"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
)

// archiveOf is the name of the archive of a version for this machine.
func archiveOf(version string) string {
	return fmt.Sprintf("patchbay_%s_linux_%s.tar.gz", version, runtime.GOARCH)
}

// site serves releases that a key has signed.
type site struct {
	files  map[string][]byte
	key    minisign.PrivateKey
	config Config
}

func newSite(t *testing.T) *site {
	t.Helper()
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{files: map[string][]byte{}, key: private}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, ok := s.files[r.URL.Path]
		switch {
		case !ok:
			http.NotFound(w, r)
		case strings.Contains(r.URL.Path, "cut-off") && strings.HasSuffix(r.URL.Path, ".gz"):
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			_, _ = w.Write(content[:len(content)/2])
		default:
			_, _ = w.Write(content)
		}
	}))
	t.Cleanup(server.Close)
	s.config = Config{URL: server.URL + "/{tag}/", PublicKey: public.String(), MaxBytes: 1 << 20, Timeout: time.Minute}
	return s
}

// put publishes an archive of a version with checksums that are signed.
func (s *site) put(tag, version string, archive []byte) {
	folder := "/" + tag + "/"
	s.files[folder+archiveOf(version)] = archive
	s.signSums(folder, fmt.Sprintf("%x  %s\n%064d  patchbay_%s_linux_s390x.tar.gz\n%064d  other\n", sha256.Sum256(archive),
		archiveOf(version), 1, version, 2))
}

func (s *site) signSums(folder, sums string) {
	s.files[folder+sumsName] = []byte(sums)
	s.files[folder+sumsName+signature] = minisign.SignWithComments(s.key, []byte(sums), "trusted", "untrusted")
}

// member is a file of an archive.
type member struct {
	name, content string
	kind          byte
}

// pack returns an archive of members; the folder of the version stands before names that begin with "./".
func pack(t *testing.T, version string, members ...member) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, m := range members {
		name := m.name
		if rest, own := strings.CutPrefix(name, "./"); own {
			name = strings.TrimSuffix(archiveOf(version), ".tar.gz") + "/" + rest
		}
		head := &tar.Header{Name: name, Mode: 0o600, Size: int64(len(m.content)), Typeflag: m.kind}
		if m.kind != tar.TypeReg {
			head.Size, head.Linkname = 0, m.content
		}
		if err := w.WriteHeader(head); err != nil {
			t.Fatal(err)
		}
		if m.kind == tar.TypeReg {
			if _, err := io.WriteString(w, m.content); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// good are the members of an archive as the release tool makes it.
func good() []member {
	return []member{{"./patchbay", "core", tar.TypeReg}, {"./patchbay-plugins", "plugins", tar.TypeReg},
		{"./README.md", "read me", tar.TypeReg}}
}

// get does all that is done with a release, and returns the names of the files that it leaves.
func (s *site) get(t *testing.T, tag string) (r Release, left []string, err error) {
	t.Helper()
	source, err := NewSource(s.config)
	if err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	dir := filepath.Join(outside, "dir")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	if r, err = source.Find(t.Context(), tag); err == nil {
		if err = source.Download(t.Context(), r, &archive); err == nil {
			err = Unpack(&archive, r, dir, s.config.MaxBytes)
		}
	}
	walked := filepath.WalkDir(outside, func(path string, e os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(dir, path); e != nil && !e.IsDir() {
			left = append(left, rel)
		}
		return err
	})
	if walked != nil {
		t.Fatal(walked)
	}
	return r, left, err
}

// TestRelease: a release is what its key has signed, and nothing else is unpacked.
func TestRelease(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put("v1.2.0", "1.2.0", pack(t, "1.2.0", good()...))
	r, left, err := s.get(t, "v1.2.0")
	if err != nil || r.Version != "1.2.0" || !slices.Equal(left, []string{"patchbay", "patchbay-plugins"}) {
		t.Errorf("a good release: %+v %q %v", r, left, err)
	}
	s.config.LatestURL = strings.Replace(s.config.URL, "{tag}", "v1.2.0", 1)
	if r, _, err := s.get(t, "latest"); err != nil || r.Version != "1.2.0" {
		t.Errorf("the latest release elsewhere: %+v %v", r, err)
	}
	for name, tt := range map[string]struct {
		spoil  func(folder string)
		reason string
	}{
		"changed sums": {func(f string) { s.files[f+sumsName] = append(s.files[f+sumsName], '\n') }, "signature_invalid"},
		"changed comment": {func(f string) {
			s.spoilFile(f+sumsName+signature, "trusted comment: trusted", "trusted comment: Trusted")
		}, "signature_invalid"},
		"another key":       {func(f string) { s.signByOther(t, f) }, "signature_invalid"},
		"no signature":      {func(f string) { delete(s.files, f+sumsName+signature) }, "no_such_release"},
		"no archive":        {func(f string) { delete(s.files, f+archiveOf("1.2.0")) }, "no_such_release"},
		"changed archive":   {func(f string) { s.files[f+archiveOf("1.2.0")][20] ^= 1 }, "checksum_differs"},
		"cut-off":           {func(string) {}, "source_unreachable"},
		"too large":         {func(f string) { s.files[f+archiveOf("1.2.0")] = make([]byte, s.config.MaxBytes+1) }, "too_large"},
		"sums too large":    {func(f string) { s.files[f+sumsName] = make([]byte, maxSums+1) }, "too_large"},
		"9.9.9":             {func(string) {}, "another_version"},
		"of another system": {func(f string) { s.signSums(f, fmt.Sprintf("%064d  patchbay_1.2.0_linux_s390x.tar.gz\n", 1)) }, ""},
		"two versions": {func(f string) {
			s.signSums(f, fmt.Sprintf("%064d  %s\n%064d  %s\n", 1, archiveOf("1.2.0"), 2, archiveOf("1.3.0")))
		}, ""},
	} {
		tag := strings.ReplaceAll(name, " ", "-")
		s.put(tag, "1.2.0", pack(t, "1.2.0", good()...))
		tt.spoil("/" + tag + "/")
		r, left, err := s.get(t, tag)
		var f *fault.Error
		if !errors.As(err, &f) || tt.reason != "" && f.Ext["reason"] != tt.reason || len(left) > 0 {
			t.Errorf("%s: %+v %q %v", name, r, left, err)
		}
	}
}

func (s *site) spoilFile(name, from, to string) {
	s.files[name] = bytes.Replace(s.files[name], []byte(from), []byte(to), 1)
}

// signByOther signs the checksums with another key.
func (s *site) signByOther(t *testing.T, folder string) {
	t.Helper()
	_, other, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s.files[folder+sumsName+signature] = minisign.Sign(other, s.files[folder+sumsName])
}

// TestUnpackRefuses: an archive writes its binaries and nothing else, wherever its names lead.
func TestUnpackRefuses(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	plugins := member{"./patchbay-plugins", "plugins", tar.TypeReg}
	for name, tt := range map[string]struct {
		members []member
		ok      bool
	}{
		"names that lead out": {append(good(), member{"../patchbay", "x", tar.TypeReg}, member{"/patchbay", "x", tar.TypeReg},
			member{"./../../patchbay", "x", tar.TypeReg}), true},
		"links of other names":  {append(good(), member{"./link", "/etc/passwd", tar.TypeSymlink}), true},
		"a symbolic link":       {[]member{{"./patchbay", "/bin/sh", tar.TypeSymlink}, plugins}, false},
		"a hard link":           {[]member{{"./patchbay", "/bin/sh", tar.TypeLink}, plugins}, false},
		"a directory":           {[]member{{"./patchbay", "", tar.TypeDir}, plugins}, false},
		"twice":                 {append(good(), plugins), false},
		"one is missing":        {[]member{plugins}, false},
		"another folder":        {[]member{{"patchbay", "x", tar.TypeReg}, plugins}, false},
		"more than is accepted": {append([]member{{"./pad", strings.Repeat("0", int(s.config.MaxBytes)), tar.TypeReg}}, good()...), false},
	} {
		s.put("1.2.0", "1.2.0", pack(t, "1.2.0", tt.members...))
		_, left, err := s.get(t, "1.2.0")
		if tt.ok != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
		for _, file := range left {
			if file != Core && file != Plugins {
				t.Errorf("%s: it left %q", name, left)
			}
		}
	}
	whole := pack(t, "1.2.0", good()...)
	s.put("1.2.0", "1.2.0", whole[:len(whole)-20])
	if _, _, err := s.get(t, "1.2.0"); err == nil {
		t.Error("an archive that ends too early was unpacked")
	}
}

// TestMinisign: signatures of the program minisign are accepted, those over a hash and the older ones over the text.
func TestMinisign(t *testing.T) {
	t.Parallel()
	_, err := exec.LookPath("minisign")
	testkit.Require(t, "minisign", err == nil, "install minisign")
	s, dir := newSite(t), t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("minisign", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("minisign %v: %v: %s", args, err, out)
		}
	}
	run("-G", "-W", "-p", "key.pub", "-s", "key.sec")
	public, err := os.ReadFile(filepath.Join(dir, "key.pub"))
	if err != nil {
		t.Fatal(err)
	}
	s.config.PublicKey = string(public)
	s.put("1.2.0", "1.2.0", pack(t, "1.2.0", good()...))
	for _, form := range []string{"-H", "-l"} {
		if err := os.WriteFile(filepath.Join(dir, sumsName), s.files["/1.2.0/"+sumsName], 0o600); err != nil {
			t.Fatal(err)
		}
		run("-S", form, "-s", "key.sec", "-m", sumsName)
		if s.files["/1.2.0/"+sumsName+signature], err = os.ReadFile(filepath.Join(dir, sumsName+signature)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.get(t, "1.2.0"); err != nil {
			t.Errorf("minisign -S %s: %v", form, err)
		}
	}
}
