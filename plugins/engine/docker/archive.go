package docker

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/docker/docker/client"

	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// Archive implements engine.Archiver.
func (d *docker) Archive(ctx context.Context, container, from string, w io.Writer) error {
	return d.callEngine(ctx, "read "+from, func(api *client.Client) error {
		stream, _, err := api.CopyFromContainer(ctx, container, path.Clean(from))
		if err != nil {
			return err
		}
		defer stream.Close()
		return stripBaseName(tar.NewReader(stream), w, path.Clean(from) == "/")
	})
}

// stripBaseName copies a tar stream whose names begin with the base name of what was asked for, without that name. The entry of
// the directory itself becomes "./".
func stripBaseName(in *tar.Reader, w io.Writer, whole bool) error {
	out := tar.NewWriter(w)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return out.Close()
		}
		if err != nil {
			return err
		}
		if !whole {
			if h.Typeflag == tar.TypeLink {
				h.Linkname = withoutFirstPart(h.Linkname)
			}
			h.Name = withoutFirstPart(h.Name)
		}
		h.Format = tar.FormatUnknown
		if err := out.WriteHeader(h); err != nil {
			return errs.Unavailable(errs.ReasonProtocol, "the engine's archive holds what cannot be written: %v", err)
		}
		if _, err := io.Copy(out, in); err != nil {
			return err
		}
	}
}

// withoutFirstPart returns a name without its first part.
func withoutFirstPart(name string) string {
	dir := strings.HasSuffix(name, "/")
	_, rest, _ := strings.Cut(strings.TrimPrefix(path.Clean("/"+name), "/"), "/")
	switch {
	case rest == "":
		return "./"
	case dir:
		return rest + "/"
	}
	return rest
}
