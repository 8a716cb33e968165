package docker

import (
	"archive/tar"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/client"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
)

const (
	helperImage  = "patchbay-helper"
	helperBinary = "/patchbay-plugins"
	helperMount  = "/mount"
	helperLabel  = "patchbay.helper"
	// wipeLimit bounds the emptying of a mount.
	wipeLimit = 10 * time.Minute
)

// emptyMount empties the mount of a helper container, and gives it the mode and owner of args if there are any. Outside of a
// container it refuses.
func emptyMount(args []string) int {
	if os.Getpid() != 1 {
		return notStarted
	}
	entries, err := os.ReadDir(helperMount)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(helperMount, e.Name())))
	}
	if len(args) == 3 {
		err = errors.Join(err, setOwnerAndMode(helperMount, args[0], args[1], args[2]))
	}
	if err != nil {
		return 1
	}
	return 0
}

// rootArgs returns the arguments of emptyMount for the entry of a mount.
func rootArgs(root *tar.Header) []string {
	if root == nil {
		return nil
	}
	return []string{strconv.FormatInt(root.Mode&0o7777, 8), strconv.Itoa(root.Uid), strconv.Itoa(root.Gid)}
}

func setOwnerAndMode(path, mode, uid, gid string) error {
	m, err := strconv.ParseUint(mode, 8, 32)
	u, uErr := strconv.Atoi(uid)
	g, gErr := strconv.Atoi(gid)
	if err = errors.Join(err, uErr, gErr); err != nil {
		return err
	}
	// A change of the owner takes the special bits of the mode away, so that the mode comes second.
	return errors.Join(os.Lchown(path, u, g), syscall.Chmod(path, uint32(m)))
}

// clearMount deletes the content of a mount. root, unless nil, has the mode and owner that the mount is given.
func (d *docker) clearMount(ctx context.Context, m *container.MountPoint, root *tar.Header) error {
	ctx, cancel := context.WithTimeout(ctx, wipeLimit)
	defer cancel()
	ref, err := d.helperRef(ctx)
	if err != nil {
		return err
	}
	source := mountSource(m)
	return d.callEngine(ctx, "empty the mount", func(api *client.Client) error {
		d.removeLeftHelpers(ctx, api, helperLabel)
		if err := endFormerWipes(ctx, api, m.Type, source); err != nil {
			return err
		}
		id, err := createContainer(ctx, api, helperImage+"-"+randomName(), helperLabel, &container.Config{
			Image: ref, Entrypoint: append([]string{helperBinary, helperWord, wipeWord}, rootArgs(root)...), User: "0:0", NetworkDisabled: true,
		}, &container.HostConfig{
			AutoRemove: true, NetworkMode: "none", ReadonlyRootfs: true, SecurityOpt: []string{"no-new-privileges"},
			Mounts: []mount.Mount{{Type: m.Type, Source: source, Target: helperMount}},
		})
		if err != nil {
			return err
		}
		// Only a container that did not start, or that still runs when ctx ends, is still there.
		defer removeContainer(api, id)
		return runToEnd(ctx, api, id)
	})
}

// mountSource returns what a mount shows: the name of a volume, or a path of the host.
func mountSource(m *container.MountPoint) string {
	if m.Type == mount.TypeVolume {
		return m.Name
	}
	return m.Source
}

// endFormerWipes removes the helper containers that still empty a mount, as after the plugin was killed or lost its connection: they
// would go on to delete what is restored by now. So would one that the engine has yet to start.
func endFormerWipes(ctx context.Context, api *client.Client, kind mount.Type, source string) error {
	all, err := api.ContainerList(ctx, container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("label", helperLabel))})
	if err != nil {
		return err
	}
	for _, c := range all {
		if !slices.ContainsFunc(c.Mounts, func(m container.MountPoint) bool { return m.Type == kind && mountSource(&m) == source }) {
			continue
		}
		if err := forceRemove(ctx, api, c.ID, container.RemoveOptions{Force: true}); err != nil {
			return partialRestore("a former restoration is perhaps still emptying the mount: %s", engineMessage(err))
		}
	}
	return nil
}

func runToEnd(ctx context.Context, api *client.Client, id string) error {
	ended, failed := api.ContainerWait(ctx, id, container.WaitConditionNextExit)
	if err := api.ContainerStart(ctx, id, container.StartOptions{}); err != nil {
		if cerrdefs.IsNotFound(err) {
			return partialRestore("another restoration of the mount has begun")
		}
		return err
	}
	select {
	case err := <-failed:
		return partialRestore("the mount is perhaps only partly emptied: %s", engineMessage(err))
	case r := <-ended:
		if r.StatusCode != 0 {
			return partialRestore("the mount is only partly emptied: the helper ended with status %d", r.StatusCode)
		}
	}
	return nil
}

// partialRestore returns the error of a restoration that has begun to change the mount.
func partialRestore(format string, args ...any) error {
	return errs.New(errs.Upstream, codes.DataLoss, reasonHalfway, format, args...)
}

func randomName() string {
	raw := make([]byte, 6)
	_, _ = rand.Read(raw)
	return hex.EncodeToString(raw)
}

// helperRef returns the name of the helper image, which is made from the plugin's own executable where it is missing.
func (d *docker) helperRef(ctx context.Context) (string, error) {
	unlock, err := d.helper.lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	self, err := d.executable()
	if err != nil {
		return "", internalError("find the plugin's own executable", err)
	}
	sum, err := fileDigest(self)
	if err != nil {
		return "", internalError("read the plugin's own executable", err)
	}
	ref := helperImage + ":" + sum[:12]
	if _, err := d.findImage(ctx, ref); err == nil || errs.From(err).Reason != reasonNotFound {
		return ref, err
	}
	info, err := d.Info(ctx, "")
	if err != nil {
		return "", err
	}
	if info.OS != runtime.GOOS || info.Arch != runtime.GOARCH {
		return "", wrongState("the engine runs %s/%s and the plugin is made for %s/%s: the helper that empties a mount cannot run", info.OS,
			info.Arch, runtime.GOOS, runtime.GOARCH)
	}
	if err := d.importHelper(ctx, self, sum[:12]); err != nil {
		return "", err
	}
	d.removeOldHelpers(ctx, ref)
	return ref, nil
}

// removeLeftHelpers removes the containers with a label that were made and never started, as when the plugin was killed meanwhile. The
// engine itself removes those that have run.
func (d *docker) removeLeftHelpers(ctx context.Context, api *client.Client, label string) {
	made := filters.NewArgs(filters.Arg("label", label), filters.Arg("status", container.StateCreated))
	left, err := api.ContainerList(ctx, container.ListOptions{All: true, Filters: made})
	for _, c := range left {
		if d.now().Sub(time.Unix(c.Created, 0)) > wipeLimit {
			err = errors.Join(err, forceRemove(ctx, api, c.ID, container.RemoveOptions{Force: true}))
		}
	}
	if err != nil {
		d.log.Debug("a helper container that was left stays", "error", err)
	}
}

// retireAfter is how old a helper image is that another version has made when it is removed.
const retireAfter = time.Hour

// removeOldHelpers removes the helper images of other versions. One that is in use stays.
func (d *docker) removeOldHelpers(ctx context.Context, current string) {
	err := d.callEngine(ctx, "remove former helper images", func(api *client.Client) error {
		all, err := api.ImageList(ctx, image.ListOptions{Filters: filters.NewArgs(filters.Arg("label", helperLabel))})
		if err != nil {
			return err
		}
		for _, img := range all {
			if slices.Contains(img.RepoTags, current) || d.now().Sub(time.Unix(img.Created, 0)) < retireAfter {
				continue
			}
			for _, tag := range img.RepoTags {
				if strings.HasPrefix(tag, helperImage+":") {
					_, err = api.ImageRemove(ctx, tag, image.RemoveOptions{})
				}
			}
		}
		return err
	})
	if err != nil {
		d.log.Debug("a former helper image stays", "error", err)
	}
}

func internalError(what string, err error) error {
	return errs.New(errs.Plugin, codes.Internal, "INTERNAL", "%s: %v", what, err)
}

func fileDigest(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// importHelper makes an image that holds the executable and nothing else.
func (d *docker) importHelper(ctx context.Context, file, tag string) error {
	return d.callEngine(ctx, "make the helper image", func(api *client.Client) error {
		r, w := io.Pipe()
		defer r.Close()
		go func() { w.CloseWithError(writeLayer(w, file)) }()
		resp, err := api.ImageImport(ctx, image.ImportSource{Source: r, SourceName: "-"}, helperImage, image.ImportOptions{
			Tag: tag, Platform: runtime.GOOS + "/" + runtime.GOARCH, Changes: []string{"LABEL " + helperLabel + "=" + tag},
		})
		if err != nil {
			return err
		}
		defer resp.Close()
		for dec := json.NewDecoder(resp); ; {
			var line pullLine
			switch err := dec.Decode(&line); {
			case errors.Is(err, io.EOF):
				return nil
			case err != nil:
				return err
			case line.failureText() != "":
				return pullError(line.failureText())
			}
		}
	})
}

// writeLayer writes the root file system of the helper image: the executable, and a directory to mount at.
func writeLayer(w io.Writer, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	out := tar.NewWriter(w)
	if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: helperMount[1:] + "/", Mode: 0o755}); err != nil {
		return err
	}
	if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: helperBinary[1:], Mode: 0o755, Size: info.Size()}); err != nil {
		return err
	}
	if _, err := io.Copy(out, f); err != nil {
		return err
	}
	return out.Close()
}
