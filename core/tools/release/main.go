// Command release makes what is published of a version: archives, Debian and RPM packages, a bill of materials, checksums and their
// signature. The same commit gives the same bytes.
//
// It is run in the root of the repository. MINISIGN_KEY names the file of a minisign key that signs the checksums, and
// MINISIGN_PASSWORD its password; without a key, -unsigned says that none is wanted.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/rpm"

	"github.com/patchbay-dev/patchbay/core/tools/release/internal/build"
	"github.com/patchbay-dev/patchbay/core/tools/release/internal/sums"
)

// release is a version that is being made.
type release struct {
	version build.Version
	// out is the directory of the artefacts, work one for what they are made of.
	out, work string
	// binaries holds binaries of this machine's architecture that are packed instead of new ones; "" builds them.
	binaries string
	// formats are what is made: "tar.gz", "deb" and "rpm".
	formats []string
}

func main() {
	r := release{}
	version := flag.String("version", "", "version, such as 1.2.0")
	flag.StringVar(&r.out, "out", "bin/release", "directory of the artefacts; what is in it is removed")
	flag.StringVar(&r.binaries, "binaries", "", "directory of binaries to pack instead of building them")
	architectures := flag.String("arch", "amd64,arm64", "architectures, separated by commas")
	formats := flag.String("formats", "tar.gz,deb,rpm", "what is made, separated by commas")
	unsigned := flag.Bool("unsigned", false, "leave the checksums without a signature")
	flag.Parse()
	r.formats = strings.Split(*formats, ",")
	if err := r.makeRelease(*version, strings.Split(*architectures, ","), *unsigned); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// makeRelease makes the artefacts for architectures.
func (r *release) makeRelease(version string, architectures []string, unsigned bool) (err error) {
	if r.version, err = build.ReadVersion(version); err != nil {
		return err
	}
	key, err := sums.ReadKey(unsigned)
	if err != nil {
		return err
	}
	if err := r.prepareDirectories(); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	if err := r.writeTexts(); err != nil {
		return err
	}
	for _, arch := range architectures {
		if err := r.makeArchitecture(arch); err != nil {
			return fmt.Errorf("%s: %w", arch, err)
		}
	}
	return sums.Write(r.out, r.version.Name, key)
}

// prepareDirectories makes the directories.
func (r *release) prepareDirectories() (err error) {
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	r.work, err = os.MkdirTemp("", "patchbay-release-")
	return err
}

// makeArchitecture makes the artefacts of one architecture.
func (r *release) makeArchitecture(arch string) error {
	bin := r.binaries
	if bin == "" {
		bin = filepath.Join(r.work, arch)
		if err := r.version.CompileBinaries(arch, bin); err != nil {
			return err
		}
	}
	files := r.listFiles(bin)
	for _, format := range r.formats {
		if err := r.writeFormat(arch, format, files); err != nil {
			return err
		}
	}
	return r.writeMaterials(arch, bin)
}

// writeFormat writes the archive or a package of an architecture.
func (r *release) writeFormat(arch, format string, packed []packedFile) error {
	switch format {
	case "tar.gz":
		return r.writeArchive(arch, packed)
	case "deb":
		return r.writePackage(arch, format, deb.Default, packed)
	case "rpm":
		return r.writePackage(arch, format, rpm.DefaultRPM, packed)
	}
	return fmt.Errorf("-formats: %q is none of tar.gz, deb and rpm", format)
}
