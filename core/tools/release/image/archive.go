package main

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"

	"github.com/patchbay-dev/patchbay/core/tools/release/internal/build"
)

// refName is the annotation by which programs find an image in an archive.
const refName = "org.opencontainers.image.ref.name"

// writeArchive writes an archive of an index in the layout of OCI. The index has the version as its tag.
func writeArchive(file string, v build.Version, index v1.ImageIndex) (err error) {
	dir, err := os.MkdirTemp("", "patchbay-image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	to, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	if err := to.AppendIndex(index, layout.WithAnnotations(map[string]string{refName: v.Name})); err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out := tar.NewWriter(f)
	if err := addDirectory(out, dir, v); err != nil {
		return err
	}
	return out.Close()
}

// addDirectory adds the files of a directory to an archive, in the order of their names and with the date of the version.
func addDirectory(out *tar.Writer, dir string, v build.Version) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if err := out.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Mode: 0o644, Size: info.Size(), ModTime: v.Date}); err != nil {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(out, f)
		return err
	})
}
