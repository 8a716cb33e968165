// Command image puts the images of several platforms, as docker save writes them, under one name: it writes an OCI archive of all of them,
// and pushes them to a registry. The same files in the images of the same commit give the same digest.
//
// It is run in the root of the repository. The archive lies beside what command release has made, and is among the checksums, which are
// signed as there. Credentials of a registry are those of docker login.
//
// Usage: image [flags] FILE..., where each file is of one platform.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/patchbay-dev/patchbay/core/tools/release/internal/build"
	"github.com/patchbay-dev/patchbay/core/tools/release/internal/sums"
)

func main() {
	version := flag.String("version", "", "version, such as 1.2.0")
	out := flag.String("out", "bin/release", "directory of the archive")
	push := flag.String("push", "", "name to push the images by, such as registry.example.com/patchbay:1.2.0; none pushes nothing")
	unsigned := flag.Bool("unsigned", false, "leave the checksums without a signature")
	flag.Parse()
	if err := publishImages(*version, *out, *push, *unsigned, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// publishImages writes the archive of images into a directory, and pushes them unless push is "".
func publishImages(version, out, push string, unsigned bool, files []string) error {
	v, err := build.ReadVersion(version)
	if err != nil {
		return err
	}
	key, err := sums.ReadKey(unsigned)
	if err != nil {
		return err
	}
	index, err := joinImages(v, files)
	if err != nil {
		return err
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if err := writeArchive(filepath.Join(out, fmt.Sprintf("patchbay_%s_linux.oci.tar", v.Name)), v, index); err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	if err := sums.Write(out, v.Name, key); err != nil {
		return err
	}
	if push == "" {
		return nil
	}
	ref, err := name.ParseReference(push)
	if err != nil {
		return err
	}
	if err := remote.WriteIndex(ref, index, remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return fmt.Errorf("push %s: %w", push, err)
	}
	fmt.Printf("pushed %s@%s\n", ref.Context(), digest)
	return nil
}
