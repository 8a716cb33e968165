package main

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/patchbay-dev/patchbay/core/tools/release/internal/build"
)

// machines are the processors of programs, by the names of platforms.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// plainImage is an image that an index lists as one, without a type of artifact.
type plainImage struct{ v1.Image }

// ArtifactType returns the type that stands in an index, none.
func (plainImage) ArtifactType() (string, error) { return "", nil }

// joinImages returns an index of the images of files, each of another platform.
func joinImages(v build.Version, files []string) (v1.ImageIndex, error) {
	if len(files) == 0 {
		return nil, errors.New("name the files of the images")
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	known := map[string]bool{}
	for _, file := range files {
		saved, err := tarball.ImageFromPath(file, nil)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		img, err := normalizeImage(saved, v.Date)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		cfg, err := img.ConfigFile()
		if err != nil {
			return nil, err
		}
		if known[cfg.Architecture] {
			return nil, fmt.Errorf("%s: another file has an image for %s", file, cfg.Architecture)
		}
		known[cfg.Architecture] = true
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: plainImage{img},
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: cfg.OS, Architecture: cfg.Architecture}}})
	}
	return mutate.Annotations(index, map[string]string{
		"org.opencontainers.image.version": v.Name, "org.opencontainers.image.revision": v.Commit,
	}).(v1.ImageIndex), nil
}

// normalizeImage returns an image in the form of OCI with the configuration and the files of a saved one, and nothing of the machine and
// the moment that made it.
func normalizeImage(saved v1.Image, date time.Time) (v1.Image, error) {
	former, err := saved.ConfigFile()
	if err != nil {
		return nil, err
	}
	if _, known := machines[former.Architecture]; !known || former.OS != "linux" {
		return nil, fmt.Errorf("the image is for %s/%s, neither linux/amd64 nor linux/arm64", former.OS, former.Architecture)
	}
	config := former.Config
	config.Hostname, config.Image = "", "" // of the builder
	layers, err := saved.Layers()
	if err != nil {
		return nil, err
	}
	img, err := mutate.ConfigFile(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON),
		&v1.ConfigFile{
			OS: former.OS, Architecture: former.Architecture, Config: config, Created: v1.Time{Time: date}, RootFS: v1.RootFS{Type: "layers"},
		})
	if err != nil {
		return nil, err
	}
	for _, layer := range layers {
		content, err := normalizeLayer(layer, machines[former.Architecture], date)
		if err != nil {
			return nil, err
		}
		open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
		normalized, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
		if err != nil {
			return nil, err
		}
		if img, err = mutate.Append(img, mutate.Addendum{Layer: normalized,
			History: v1.History{Created: v1.Time{Time: date}, CreatedBy: "examples/deploy/Dockerfile"}}); err != nil {
			return nil, err
		}
	}
	return img, nil
}

// normalizeLayer returns the files of a layer, all with one date. Programs must be for a processor, and static.
func normalizeLayer(layer v1.Layer, machine elf.Machine, date time.Time) ([]byte, error) {
	r, err := layer.Uncompressed()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for files := tar.NewReader(r); ; {
		file, err := files.Next()
		if errors.Is(err, io.EOF) {
			err = w.Close()
			return out.Bytes(), err
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(files)
		if err != nil {
			return nil, err
		}
		if err := checkProgram(content, machine); err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name, err)
		}
		header := &tar.Header{Typeflag: file.Typeflag, Name: file.Name, Linkname: file.Linkname, Size: file.Size, Mode: file.Mode, Uid: file.Uid,
			Gid: file.Gid, ModTime: date}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(content); err != nil {
			return nil, err
		}
	}
}

// checkProgram returns an error if a file is a program that an image without libraries for a processor cannot run.
func checkProgram(content []byte, machine elf.Machine) error {
	if !bytes.HasPrefix(content, []byte(elf.ELFMAG)) {
		return nil
	}
	program, err := elf.NewFile(bytes.NewReader(content))
	if err != nil {
		return err
	}
	if program.Machine != machine {
		return fmt.Errorf("the program is for %s, and the image for %s", program.Machine, machine)
	}
	for _, p := range program.Progs {
		if p.Type == elf.PT_INTERP {
			return errors.New("the program is not static: the image has no libraries")
		}
	}
	return nil
}
