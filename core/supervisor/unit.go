package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/supervisor/release"
	"github.com/patchbay-dev/patchbay/core/supervisor/systemd"
)

// UnitConfig says which unit of systemd is the core, and where its versions are.
type UnitConfig struct {
	// Unit is the name of the unit, such as "patchbay.service". Dir is the directory of the versions.
	Unit, Dir string
	// Releases says where versions come from.
	Releases release.Config
}

// unit is a core whose binaries a unit of systemd starts, out of a directory of versions.
type unit struct {
	s        *Supervisor
	cfg      UnitConfig
	systemd  systemd.Unit
	store    release.Store
	releases *release.Source
}

func newUnit(s *Supervisor, cfg UnitConfig) (*unit, error) {
	source, err := release.NewSource(cfg.Releases)
	if err != nil {
		return nil, fmt.Errorf("public_key: %w", err)
	}
	return &unit{s: s, cfg: cfg, systemd: systemd.Unit(cfg.Unit), store: release.NewStore(cfg.Dir), releases: source}, nil
}

// unitKind is the kind of this deployment, by which texts of the page are named.
const unitKind = "unit"

// keptVersions is how many former versions are kept: as many rollbacks are possible, one after the other.
const keptVersions = 2

func (d *unit) kindName() string { return unitKind }

func (d *unit) sourceName() string { return d.cfg.Releases.URL }

// nameTarget implements deployment. Releases are found by their tag.
func (d *unit) nameTarget(t Target) (Image, error) {
	if t.Tag == "" {
		return Image{}, fault.New(fault.InvalidArgument, "target.tag is needed: a release is found by its tag.").With("field", "tag")
	}
	return Image{Tag: t.Tag, Digest: t.Digest}, nil
}

// awaitDriver implements deployment.
func (d *unit) awaitDriver(ctx context.Context) error {
	_, err := d.systemd.Status(ctx)
	return err
}

func (d *unit) timeAway() time.Duration { return 0 }

// lookAtCore implements deployment: the unit must start what the link in the directory of versions names, so that replacing the link
// changes what runs.
func (d *unit) lookAtCore(ctx context.Context, r *run) error {
	if err := d.store.Check(); err != nil {
		return err
	}
	status, err := d.systemd.Status(ctx)
	if err != nil {
		return err
	}
	program := d.store.CurrentPath(release.Core)
	switch {
	case !status.Loaded:
		return fault.New(fault.InvalidArgument, "There is no unit %s: set unit.", d.cfg.Unit).With("reason", "target_not_found")
	case status.Program != program:
		return fault.New(fault.InvalidArgument, "The unit %s starts %s instead of %s: give it a drop-in that does.", d.cfg.Unit, status.Program,
			program).With("reason", "unit_not_prepared")
	}
	r.op.Place = Place{Service: d.cfg.Unit}
	if r.op.Previous.Ref, err = d.store.Current(); err != nil {
		return err
	}
	if r.op.Previous.ID, err = d.store.Identify(r.op.Previous.Ref); err != nil {
		return err
	}
	if r.op.Previous.Version, err = d.formerVersion(ctx, status, r.op.Previous.Ref); err != nil {
		return err
	}
	r.op.Previous.Tag = r.op.Previous.Version
	return r.recordLine("info", fmt.Sprintf("The unit %s has %s", d.cfg.Unit, describeBinaries(r.op.Previous)))
}

// formerVersion returns the version of what runs, or of what would run if the unit were started; "" if that cannot be told.
func (d *unit) formerVersion(ctx context.Context, status systemd.Status, folder string) (string, error) {
	if !status.Running() {
		version, _ := d.runVersion(ctx, folder)
		return version, nil
	}
	if err := d.checkProcess(status, folder); err != nil {
		return "", err
	}
	version, err := d.askCore(ctx)
	if err != nil && status.Active == "active" {
		return "", fault.New(fault.InvalidArgument,
			"The core is running but unreachable from here, so a new one could not be checked: set core_url "+
				"(SVC_SUPERVISOR_CORE_URL). %v", err).With("reason", "core_unreachable")
	}
	return version, nil
}

// checkProcess returns an error unless the process of the unit runs the core of a folder: that very file, not one of its name.
func (d *unit) checkProcess(status systemd.Status, folder string) error {
	path := d.store.Path(folder, release.Core)
	want, err := os.Stat(path)
	if err != nil {
		return fault.Wrap(err, fault.Conflict, "The binary in use cannot be read: %v.", err)
	}
	runs, err := os.Stat(fmt.Sprintf("/proc/%d/exe", status.MainPID))
	if err != nil {
		return fault.Wrap(err, fault.Conflict,
			"The program of the unit %s cannot be found: %v.", d.cfg.Unit, err).With("reason", "process_unreadable")
	}
	if !os.SameFile(want, runs) {
		return fault.New(fault.Conflict, "The unit %s runs a different program than %s: restart it first.", d.cfg.Unit, path).With("reason",
			"another_program")
	}
	return nil
}

// askCore returns the version of the core that answers: at its URL, or, where no service has /api/version there, over the operators'
// socket.
func (d *unit) askCore(ctx context.Context) (string, error) {
	version, err := probeVersion(ctx, []string{strings.TrimSuffix(d.s.cfg.CoreURL, "/")})
	if errors.Is(err, errNotServed) && d.s.cfg.Core != nil {
		ctx, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		return d.s.cfg.Core.CoreVersion(ctx)
	}
	return version, err
}

// fetchTarget implements deployment. It leaves a folder of the version that is not in use.
func (d *unit) fetchTarget(ctx context.Context, r *run) error {
	wanted := r.op.Request.Target
	if err := r.enterStep(StepPull, "Downloading the release "+wanted.Tag); err != nil {
		return err
	}
	d.removeUnused(r)
	found, err := d.releases.Find(ctx, wanted.Tag)
	if err != nil {
		return err
	}
	if wanted.Digest != "" && wanted.Digest != found.Digest {
		return fault.New(fault.Conflict, "The archive of the release %s has the checksum %s instead of %s.", wanted.Tag, found.Digest,
			wanted.Digest).With("reason", "checksum_differs")
	}
	if err := checkOrder(wanted.Tag, found.Version, r.op.Previous.Version); err != nil {
		return err
	}
	archive, err := d.store.Scratch()
	if err != nil {
		return fmt.Errorf("make a file for the archive: %w", err)
	}
	defer func() { _ = errors.Join(archive.Close(), os.Remove(archive.Name())) }()
	if err := d.releases.Download(ctx, found, archive); err != nil {
		return err
	}
	if _, err := archive.Seek(0, 0); err != nil {
		return fmt.Errorf("read the archive: %w", err)
	}
	r.op.Target.Ref, r.op.Target.ID, err = d.store.Add(found.Version, func(dir string) error {
		return release.Unpack(archive, found, dir, d.cfg.Releases.MaxBytes)
	})
	if err != nil {
		return err
	}
	r.op.Target.Version, r.op.Target.Digest = found.Version, found.Digest
	return r.recordLine("info", "Downloaded and verified "+describeBinaries(r.op.Target))
}

// checkOrder refuses an older version that answers for a tag that names no version: who serves releases could otherwise bring old faults
// back.
func checkOrder(tag, found, runs string) error {
	if strings.TrimPrefix(tag, "v") == found {
		return nil
	}
	to, err := semver.NewVersion(found)
	if err != nil {
		return nil
	}
	if from, err := semver.NewVersion(runs); err == nil && to.LessThan(from) {
		return fault.New(fault.Conflict,
			"The tag %s is the version %s, which is older than %s: name the version to install it anyway.", tag, found,
			runs).With("reason", "older_version")
	}
	return nil
}

// tryTarget implements deployment.
func (d *unit) tryTarget(ctx context.Context, r *run) error {
	if err := r.enterStep(StepCheck, "Checking that the new core can start"); err != nil {
		return err
	}
	version, err := d.runVersion(ctx, r.op.Target.Ref)
	if err != nil {
		return fault.Wrap(err, fault.Conflict, "The new core cannot start: %v", err).With("reason", "core_does_not_start")
	}
	if version != r.op.Target.Version {
		return fault.New(fault.Conflict, "The new core reports the version %q, but its release says %s.", version,
			r.op.Target.Version).With("reason", "version_differs")
	}
	return r.recordLine("info", "The new core can start, and has the version "+version)
}

// runVersion returns what "patchbay version" of a folder prints as its version; "" if it prints none. It runs without an environment.
func (d *unit) runVersion(ctx context.Context, folder string) (string, error) {
	bounded, cancel := context.WithTimeout(ctx, imageTimeout)
	defer cancel()
	cmd := exec.CommandContext(bounded, d.store.Path(folder, release.Core), "version")
	cmd.Dir, cmd.Env, cmd.WaitDelay = "/", []string{}, time.Second
	out, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case bounded.Err() != nil:
		return "", fmt.Errorf("it did not end within %s", imageTimeout)
	case err != nil:
		return "", fmt.Errorf("%w%s", err, addedSentence(string(out)))
	}
	return versionIn(string(out)), nil
}

// describePlan implements deployment.
func (d *unit) describePlan(o *Operation) string {
	return fmt.Sprintf("Would replace %s by %s in %s, and restart %s", describeBinaries(o.Previous), describeBinaries(o.Target), d.cfg.Dir,
		d.cfg.Unit)
}

// discardTarget implements deployment: a folder that is not in use disturbs nobody.
func (d *unit) discardTarget(context.Context, *run) {}

// currentID implements deployment.
func (d *unit) currentID(context.Context) (string, error) {
	folder, err := d.store.Current()
	if err != nil {
		return "", err
	}
	return d.store.Identify(folder)
}

// checkFormer implements deployment. Whether the binaries are what they were is found out when they are put into use.
func (d *unit) checkFormer(o *Operation) error {
	if _, err := os.Stat(d.store.Path(o.Previous.Ref, release.Core)); err != nil {
		return fault.New(fault.InvalidArgument, "The binaries from before the upgrade %s were deleted.", o.ID).With("reason",
			"former_missing")
	}
	return nil
}

// removeUnused implements deployment: what the last upgrades have replaced is kept.
func (d *unit) removeUnused(r *run) {
	var keep []string
	for _, o := range r.s.journal.Operations() {
		if o.hasReplaced() && o.Status != RolledBack && len(keep) < keptVersions {
			keep = append(keep, o.Previous.Ref)
		}
	}
	if err := d.store.RemoveUnused(slices.Compact(keep)...); err != nil {
		r.s.log.Warn("cannot remove old versions", "error", client.FailureText(err))
	}
}

// describeBinaries names the binaries of a version for people.
func describeBinaries(i Image) string {
	id := strings.TrimPrefix(i.ID, "sha256:")
	return fmt.Sprintf("version %s (%s)", orDash(i.Version), id[:min(12, len(id))])
}
