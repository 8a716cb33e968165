package backup

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/store"
)

// BackupPlan is a mount that an update would copy before.
type BackupPlan struct {
	record.Mount
	Choice record.BackupChoice `json:"choice" enum:"inherit,force"`
	Limit  int64               `json:"limitBytes,omitempty" doc:"The most bytes; left out where there is no limit."`
}

// BackupResult is what became of a mount's backup in a job.
type BackupResult struct {
	ID        string `json:"id" example:"bkp_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	ServiceID string `json:"serviceId"`
	Kind      string `json:"kind" enum:"docker-volume,bind-mount"`
	Target    string `json:"target"`
	Status    string `json:"status" enum:"running,success,failed,skipped_by_size"`
	SizeBytes int64  `json:"sizeBytes,omitempty"`
	Error     string `json:"error,omitempty"`
}

// isSystemMount reports whether a mount belongs to the host and holds no data of the service.
func isSystemMount(m record.Mount) bool {
	if m.Kind != compose.BindMount {
		return false
	}
	if strings.HasSuffix(m.Name, ".sock") || m.Name == "/" {
		return true
	}
	for _, dir := range []string{"/proc", "/sys", "/dev", "/run", "/var/run", "/etc/localtime", "/etc/timezone"} {
		if m.Name == dir || strings.HasPrefix(m.Name, dir+"/") {
			return true
		}
	}
	return false
}

// PlanBackup are the mounts of a service that are copied before an update in a mode.
func (k *Backups) PlanBackup(ctx context.Context, svc *record.Service, mode string) ([]BackupPlan, error) {
	set, err := k.cfg.Settings(ctx)
	if err != nil {
		return nil, err
	}
	out := []BackupPlan{}
	if mode == string(record.BackupSkip) || mode == string(record.BackupInherit) && !set.Enabled {
		return out, nil
	}
	for _, m := range svc.Mounts {
		choice := svc.BackupTargets.ChoiceFor(m)
		if choice == record.BackupSkip || m.ReadOnly || isSystemMount(m) && choice != record.BackupForce {
			continue
		}
		p := BackupPlan{Mount: m, Choice: choice}
		if choice == record.BackupInherit && mode != string(record.BackupForce) {
			p.Limit = set.SkipOverBytes
		}
		out = append(out, p)
	}
	return out, nil
}

// BackupMount copies one mount. A failure, or a mount over the limit, is an error only if the settings ask for every backup to
// succeed.
func (k *Backups) BackupMount(ctx context.Context, of Subject, container string, p BackupPlan) (BackupResult, error) {
	set, err := k.cfg.Settings(ctx)
	if err != nil {
		return BackupResult{}, err
	}
	now := k.cfg.Now()
	rec := &Record{
		ID: store.NewID("bkp"), StackID: of.StackID, ServiceID: of.ServiceID, JobID: of.JobID, Kind: p.Kind, Target: p.Name,
		Destination: p.Destination,
		Status:      StatusRunning, CreatedAt: store.Millis(now),
	}
	rec.Path = filepath.Join(set.BaseDir, of.StackID, now.UTC().Format("20060102-150405Z")+"-"+rec.ID+".tar.gz")
	if err := k.Store.SaveBackup(ctx, rec); err != nil {
		return BackupResult{}, err
	}
	size, digest, err := k.writeArchive(ctx, container, p, rec.Path)
	rec.Status, rec.Size, rec.Digest, rec.FinishedAt = StatusSuccess, size, digest, k.now()
	rec.CleanupAfter = store.Millis(k.cfg.Now().Add(backupKeep))
	switch {
	case errors.Is(err, errTooLarge):
		rec.Status, rec.Error, rec.Path = StatusSkipped, fmt.Sprintf("it holds more than the limit of %d bytes", p.Limit), ""
		of.Log.LogWarning(ctx, "%s: %s holds more than %d bytes and is not backed up", of.Name, p.Name, p.Limit)
		if !set.RequireSuccess {
			err = nil
		}
	case err != nil:
		rec.Status, rec.Error, rec.Path = StatusFailed, Reason(err), ""
		of.Log.LogError(ctx, "%s: the backup of %s failed: %s", of.Name, p.Name, rec.Error)
	default:
		of.Log.LogInfo(ctx, "%s: backed up %s, %d bytes", of.Name, p.Name, size)
	}
	if saved := k.Store.SaveBackup(context.WithoutCancel(ctx), rec); saved != nil {
		return rec.toResult(), saved
	}
	if err != nil && (set.RequireSuccess || ctx.Err() != nil) {
		remedy := ""
		if rec.Status == StatusSkipped {
			remedy = ". Raise the limit, or choose force or skip for it in the settings of the service"
		}
		return rec.toResult(), fault.Wrap(err, fault.Conflict, "The backup of %s failed, so nothing was changed: %s%s", p.Name, rec.Error, remedy)
	}
	return rec.toResult(), nil
}

// Reason words why a backup failed: what the engine says, or what the file system does.
func Reason(err error) string {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Op + " " + path.Path + ": " + path.Err.Error()
	}
	return failure.Text(err)
}

func (b *Record) toResult() BackupResult {
	return BackupResult{ID: b.ID, ServiceID: b.ServiceID, Kind: b.Kind, Target: b.Target, Status: b.Status, SizeBytes: b.Size, Error: b.Error}
}

// errTooLarge tells that a mount holds more than the limit.
var errTooLarge = errors.New("the mount holds more than the limit")

// limitWriter counts what passes, and refuses more than a limit; 0 means none.
type limitWriter struct {
	w           io.Writer
	size, limit int64
}

// Write implements io.Writer.
func (l *limitWriter) Write(p []byte) (int, error) {
	l.size += int64(len(p))
	if l.limit > 0 && l.size > l.limit {
		return 0, errTooLarge
	}
	return l.w.Write(p)
}

// writeArchive copies a mount into a file, which is there in whole or not at all. size is that of the contents before they
// are compressed.
func (k *Backups) writeArchive(ctx context.Context, container string, p BackupPlan, path string) (size int64, digest string, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return 0, "", err
	}
	f, err := os.OpenFile(path+".part", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, "", err
	}
	defer func() {
		_ = f.Close()
		if err != nil {
			_ = os.Remove(path + ".part")
		}
	}()
	sum := sha256.New()
	packed := gzip.NewWriter(io.MultiWriter(f, sum))
	in := &limitWriter{w: packed, limit: p.Limit}
	if err := k.cfg.Host.Engine().Archive(ctx, container, p.Destination, in); err != nil {
		if p.Limit > 0 && in.size > p.Limit {
			err = errTooLarge
		}
		return in.size, "", err
	}
	if err := packed.Close(); err != nil {
		return in.size, "", err
	}
	if err := f.Sync(); err != nil {
		return in.size, "", err
	}
	return in.size, hex.EncodeToString(sum.Sum(nil)), os.Rename(path+".part", path)
}

// ProbeDir makes a directory where it is missing, and returns an error unless files can be written in it.
func ProbeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	probe, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return err
	}
	_, err = probe.WriteString("ok")
	return errors.Join(err, probe.Close(), os.Remove(probe.Name()))
}

// backupKeep is for how long backups are kept: as long as a stack needs to prove stable. The newest of each mount is kept
// for good.
const backupKeep = time.Hour
