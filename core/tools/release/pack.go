package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/files"
)

// packedFile is a file of the archives and packages.
type packedFile struct {
	// source is where it lies now.
	source string
	// archive is its name in an archive, pack that in a package; "" leaves it out.
	archive, pack string
	mode          os.FileMode
	// config says that a package keeps what an administrator has changed in it.
	config bool
}

// listFiles returns what is packed, with the binaries of a directory.
func (r *release) listFiles(bin string) []packedFile {
	const docs, examples = "/usr/share/doc/patchbay/", "examples/deploy/systemd/"
	out := []packedFile{
		{source: filepath.Join(bin, "patchbay"), archive: "patchbay", pack: "/usr/lib/patchbay/patchbay", mode: 0o755},
		{source: filepath.Join(bin, "patchbay-plugins"), archive: "patchbay-plugins", pack: "/usr/lib/patchbay/patchbay-plugins", mode: 0o755},
		{source: "LICENSE", archive: "LICENSE", pack: docs + "copyright", mode: 0o644},
		{source: "core/docs/third-party-licences.md", archive: "third-party-licences.md", pack: docs + "third-party-licences.md", mode: 0o644},
		{source: "README.md", archive: "README.md", pack: docs + "README.md", mode: 0o644},
		{source: examples + "plugin.hcl", archive: "plugin.hcl", pack: "/etc/patchbay/plugin.hcl", mode: 0o640, config: true},
		{source: examples + "patchbay.service", archive: "systemd/patchbay.service", pack: "/usr/lib/systemd/system/patchbay.service",
			mode: 0o644},
		{source: examples + "patchbay-supervisor.service", archive: "systemd/patchbay-supervisor.service",
			pack: "/usr/lib/systemd/system/patchbay-supervisor.service", mode: 0o644},
		{source: examples + "supervised.conf", archive: "systemd/supervised.conf", pack: docs + "examples/supervised.conf", mode: 0o644},
		{source: examples + "docker.conf", archive: "systemd/docker.conf", pack: docs + "examples/docker.conf", mode: 0o644},
		{source: filepath.Join(r.work, "bash"), archive: "completions/patchbay.bash", pack: "/usr/share/bash-completion/completions/patchbay",
			mode: 0o644},
		{source: filepath.Join(r.work, "zsh"), archive: "completions/_patchbay", pack: "/usr/share/zsh/vendor-completions/_patchbay",
			mode: 0o644},
		{source: filepath.Join(r.work, "fish"), archive: "completions/patchbay.fish", pack: "/usr/share/fish/vendor_completions.d/patchbay.fish",
			mode: 0o644},
	}
	for _, pattern := range []string{"core/docs/*.md", "sdk/docs/*.md"} {
		found, _ := filepath.Glob(pattern)
		for _, f := range found {
			if name := filepath.Base(f); name != "third-party-licences.md" {
				out = append(out, packedFile{source: f, archive: "docs/" + name, pack: docs + name, mode: 0o644})
			}
		}
	}
	pictures, _ := filepath.Glob("core/docs/pictures/*.png")
	for _, f := range pictures {
		name := "pictures/" + filepath.Base(f)
		out = append(out, packedFile{source: f, archive: "docs/" + name, pack: docs + name, mode: 0o644})
	}
	pages, _ := filepath.Glob(filepath.Join(r.work, "man", "*.1.gz"))
	for _, f := range pages {
		out = append(out, packedFile{source: f, archive: "man/" + filepath.Base(f), pack: "/usr/share/man/man1/" + filepath.Base(f), mode: 0o644})
	}
	return out
}

// writeArchive writes the archive of an architecture. Its folder has the archive's name.
func (r *release) writeArchive(arch string, packed []packedFile) (err error) {
	name := fmt.Sprintf("patchbay_%s_linux_%s", r.version.Name, arch)
	f, err := os.Create(filepath.Join(r.out, name+".tar.gz"))
	if err != nil {
		return err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	out := tar.NewWriter(z)
	for _, p := range packed {
		if err := r.addToArchive(out, path.Join(name, p.archive), p); err != nil {
			return err
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	return z.Close()
}

// addToArchive adds a file to an archive under a name.
func (r *release) addToArchive(out *tar.Writer, name string, p packedFile) error {
	f, err := os.Open(p.source)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := out.WriteHeader(&tar.Header{Name: name, Mode: int64(p.mode), Size: info.Size(), ModTime: r.version.Date,
		Format: tar.FormatPAX}); err != nil {
		return err
	}
	_, err = io.Copy(out, f)
	return err
}

// writePackage writes the package of an architecture in a format, "deb" or "rpm".
func (r *release) writePackage(arch, format string, packager nfpm.Packager, packed []packedFile) error {
	info := r.describePackage(arch, format, packed)
	info.Depends = userTools[format]
	info.Target = filepath.Join(r.out, fmt.Sprintf("patchbay_%s_linux_%s.%s", r.version.Name, arch, format))
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return fmt.Errorf("describe the %s package: %w", format, err)
	}
	f, err := os.Create(info.Target)
	if err != nil {
		return err
	}
	if err := errors.Join(packager.Package(info, f), f.Close()); err != nil {
		return fmt.Errorf("write the %s package: %w", format, err)
	}
	return nil
}

// userTools are the packages that have useradd, by the format of a package.
var userTools = map[string][]string{"deb": {"passwd"}, "rpm": {"shadow-utils"}}

// completions are the folders where zsh looks for completions, by the format of a package; listFiles has that of Debian.
var completions = map[string]string{"deb": "/usr/share/zsh/vendor-completions/", "rpm": "/usr/share/zsh/site-functions/"}

// packagePath returns the name of a file in a package of a format.
func packagePath(format string, p packedFile) string {
	if name, ok := strings.CutPrefix(p.pack, completions["deb"]); ok {
		return completions[format] + name
	}
	return p.pack
}

// describePackage returns what a package of a format is and has.
func (r *release) describePackage(arch, format string, packed []packedFile) *nfpm.Info {
	const scripts = "core/tools/release/scripts/"
	contents := files.Contents{
		{Destination: "/etc/patchbay", Type: files.TypeDir, FileInfo: &files.ContentFileInfo{Mode: 0o750, MTime: r.version.Date}},
		{Source: "/usr/lib/patchbay/patchbay", Destination: "/usr/bin/patchbay", Type: files.TypeSymlink,
			FileInfo: &files.ContentFileInfo{MTime: r.version.Date}},
	}
	for _, p := range packed {
		kind := files.TypeFile
		if p.config {
			kind = files.TypeConfigNoReplace
		}
		contents = append(contents, &files.Content{Source: p.source, Destination: packagePath(format, p), Type: kind,
			FileInfo: &files.ContentFileInfo{Mode: p.mode, MTime: r.version.Date}})
	}
	version, prerelease, _ := strings.Cut(r.version.Name, "-")
	return nfpm.WithDefaults(&nfpm.Info{
		Name: "patchbay", Arch: arch, Platform: "linux", Version: version, Prerelease: prerelease, Section: "net", Priority: "optional",
		Maintainer: "The Patchbay authors", Vendor: "Patchbay", License: "Apache-2.0", Homepage: "https://github.com/patchbay-dev/patchbay",
		MTime:       r.version.Date,
		Description: "self-hosted core that providers are plugged into\nA search proxy, mailboxes, a feed of releases, and updates of containers. Each outside system\nis a plugin in a process of its own, chosen in one file.",
		Overridables: nfpm.Overridables{
			Contents: contents, Recommends: []string{"ca-certificates"},
			Scripts: nfpm.Scripts{PostInstall: scripts + "postinstall.sh", PreRemove: scripts + "preremove.sh",
				PostRemove: scripts + "postremove.sh"},
			Deb: nfpm.Deb{Compression: "gzip"},
			// Otherwise the package has the name of the machine that made it.
			RPM: nfpm.RPM{BuildHost: "patchbay"},
		},
	})
}
