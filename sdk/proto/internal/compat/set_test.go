package compat_test

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/patchbay-dev/patchbay/sdk/proto/internal/compat"
)

var update = flag.Bool("update", false, "write the published set")

const (
	published = "../../patchbay.binpb"
	released  = "../../released.binpb"
)

func registry(t *testing.T, set *descriptorpb.FileDescriptorSet) *protoregistry.Files {
	t.Helper()
	files, err := protodesc.NewFiles(set)
	if err != nil {
		t.Fatalf("link the descriptors: %v", err)
	}
	return files
}

// The set that authors load says what the .proto files say, and all of them are in it.
func TestPublishedSetIsCurrent(t *testing.T) {
	if *update {
		if err := compat.WriteSet(published, compat.Published()); err != nil {
			t.Fatal(err)
		}
	}
	got, err := compat.ReadSet(published)
	if err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(got, compat.Published()) {
		t.Error("sdk/proto/patchbay.binpb is not what the .proto files say: run make generate and commit it")
	}
	files := registry(t, got)
	err = fs.WalkDir(os.DirFS("../.."), ".", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".proto") {
			if _, missing := files.FindFileByPath(filepath.ToSlash(path)); missing != nil {
				t.Errorf("%s is not in the published set: add it to Published", path)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestNothingReleasedIsBroken(t *testing.T) {
	set, err := compat.ReadSet(released)
	if err != nil {
		t.Fatal(err)
	}
	for _, broken := range compat.Broken(registry(t, set), registry(t, compat.Published())) {
		t.Error(broken)
	}
	if t.Failed() {
		t.Log("sdk/docs/COMPAT.md tells how to change what has been released")
	}
}

var packageName = regexp.MustCompile("`(patchbay\\.[a-z]+\\.v[0-9]+)`")

// The promise covers every kind: the released set and the table of COMPAT.md have the packages that are published.
func TestEveryKindIsPromised(t *testing.T) {
	set, err := compat.ReadSet(released)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../../docs/COMPAT.md")
	if err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(string(text), "## Within a version")
	var named []string
	for _, m := range packageName.FindAllStringSubmatch(table, -1) {
		named = append(named, m[1])
	}
	now := packages(compat.Published())
	if len(now) < 7 {
		t.Fatalf("only %q are published", now)
	}
	for where, got := range map[string][]string{"released.binpb": packages(set), "the table of COMPAT.md": named} {
		slices.Sort(got)
		if !slices.Equal(got, now) {
			t.Errorf("%s has %q, published are %q", where, got, now)
		}
	}
}

// packages returns the packages of this project in a set, sorted.
func packages(set *descriptorpb.FileDescriptorSet) []string {
	var out []string
	for _, f := range set.GetFile() {
		if p := f.GetPackage(); strings.HasPrefix(p, "patchbay.") && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}
