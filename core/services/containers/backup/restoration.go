package backup

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// restoration is one attempt to restore a backup.
type restoration struct {
	s      *Backups
	r      *work.Reporter
	backup Record
	stack  record.Stack
	state  restoreState
	// stopped says that services may have been stopped, by this attempt or an earlier one.
	stopped bool
}

// restoreState is the checkpoint of a restore.
type restoreState struct {
	// Services are those that use the mount and ran when the job began.
	Services []string `json:"services"`
	// Begun says that contents may have been replaced in part: then nothing may be started.
	Begun bool `json:"begun"`
}

func (k *Backups) newRestoration(ctx context.Context, job *queue.Job, spec RestoreJob, r *work.Reporter) (*restoration, error) {
	if len(spec.BackupIDs) != 1 {
		return nil, errors.New("a restore has one backup")
	}
	m := &restoration{s: k, r: r, state: restoreState{Services: []string{}}, stopped: len(job.Checkpoint) > 0}
	var err error
	if m.backup, err = k.Store.FindBackup(ctx, spec.BackupIDs[0]); err != nil {
		return nil, err
	}
	if m.stack, err = k.Store.FindStack(ctx, spec.StackID); err != nil {
		return nil, err
	}
	if m.stopped && record.DecodeColumn(job.Checkpoint, &m.state) != nil {
		// An older version kept the services alone.
		m.state.Begun = true
		return m, record.DecodeColumn(job.Checkpoint, &m.state.Services)
	}
	return m, nil
}

// RunRestore replaces the contents of a mount. It may be repeated from the start: what is there is replaced whole. What uses
// the mount is started
// again unless the contents may be there in part, also if the job is canceled between two attempts.
func (k *Backups) RunRestore(ctx context.Context, job *queue.Job, spec RestoreJob, r *work.Reporter) (any, error) {
	m, err := k.newRestoration(context.WithoutCancel(ctx), job, spec, r)
	if err != nil {
		return nil, err
	}
	unlock, err := m.lockStack(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err = context.Cause(ctx); err == nil {
		err = m.replaceContents(ctx)
	}
	out := RestoreSummary{Backup: m.backup.toResult(), Services: m.state.Services}
	switch {
	case err != nil && (work.IsHandover(ctx) || errors.Is(err, queue.ErrLost)):
		return out, err
	case err != nil && m.state.Begun:
		text := fmt.Sprintf("The restore of %s failed in the middle, and the services that use it stay stopped: restore again. %s",
			m.backup.Target, failure.Text(err))
		// Who cancels a job finds it in the log alone.
		r.LogError(ctx, "%s", text)
		return out, fault.Wrap(err, fault.Conflict, "%s", text)
	case err != nil:
		m.startDetached(ctx)
		return out, err
	}
	r.LogInfo(ctx, "restored %s from %s", m.backup.Target, m.backup.ID)
	if err := m.startServices(ctx); err != nil {
		if ctx.Err() != nil && !work.IsHandover(ctx) {
			m.startDetached(ctx)
		}
		return out, err
	}
	k.cfg.Projects.RefreshServices(context.WithoutCancel(ctx), []string{m.backup.ServiceID})
	return out, nil
}

// lockStack locks the stack. A job that has stopped services and is canceled, also while it waits, waits on for a limited
// time to end in order.
func (m *restoration) lockStack(ctx context.Context) (unlock func(), err error) {
	unlock, err = m.s.cfg.Locks.LockKey(ctx, m.stack.ID)
	if err == nil || work.IsHandover(ctx) || !m.stopped {
		return unlock, err
	}
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), lockTime)
	defer cancel()
	return m.s.cfg.Locks.LockKey(wait, m.stack.ID)
}

// replaceContents stops what uses the mount and replaces the contents. state.Begun tells after an error whether they may be there in part.
func (m *restoration) replaceContents(ctx context.Context) error {
	s, b := m.s, &m.backup
	m.r.UpdateProgress(ctx, func(p *work.ProgressState) { p.Phase, p.Message = "prepare", "reading the backup" })
	file, err := openArchive(b)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if err := s.refuseSharedMount(ctx, &m.stack, b); err != nil {
		return err
	}
	list, err := s.cfg.Host.ContainersOf(ctx, m.stack.Project, s.serviceName(ctx, b.ServiceID))
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return fault.New(fault.Conflict, "The service has no container to reach its mount through: start it once.")
	}
	if err := sameMount(&list[0], b); err != nil {
		return err
	}
	if err := m.stopServices(ctx); err != nil {
		return err
	}
	before := m.state
	m.state.Begun = true
	if err := m.r.Progress.Checkpoint(ctx, m.state); err != nil {
		m.state = before
		return err
	}
	m.r.UpdateProgress(ctx, func(p *work.ProgressState) { p.Phase, p.Message, p.Percent = "apply", "restoring "+b.Target, 30 })
	err = s.readArchive(ctx, list[0].ID, b, file)
	if err == nil || ctx.Err() == nil && failure.IsDenied(err) && !before.Begun {
		// The contents are whole. If that is not kept, a later attempt starts nothing before it has replaced them.
		m.state.Begun = false
		if kept := m.r.Progress.Checkpoint(ctx, m.state); errors.Is(kept, queue.ErrLost) {
			return kept
		}
	}
	return err
}

// stopServices stops what uses the mount. Which services those are is kept for later attempts, which find them stopped.
func (m *restoration) stopServices(ctx context.Context) (err error) {
	if !m.stopped {
		if m.state.Services, err = m.s.listUsers(ctx, &m.stack, &m.backup); err != nil {
			return err
		}
		if err := m.r.Progress.Checkpoint(ctx, m.state); err != nil {
			return err
		}
		m.stopped = true
	}
	if len(m.state.Services) == 0 {
		return nil
	}
	_, err = m.s.cfg.Host.RunCompose(ctx, m.r, &m.stack, host.ComposeCall{Action: engine.ActionStop, Services: m.state.Services})
	return err
}

// startServices starts what was stopped.
func (m *restoration) startServices(ctx context.Context) error {
	if !m.stopped || len(m.state.Services) == 0 {
		return nil
	}
	scale, err := m.s.cfg.Host.ScaleOf(ctx, &m.stack, m.state.Services...)
	if err != nil {
		return err
	}
	_, err = m.s.cfg.Host.RunCompose(ctx, m.r, &m.stack,
		host.ComposeCall{Action: engine.ActionStart, Services: m.state.Services, Scale: scale})
	return err
}

// startDetached is startServices for a job that has failed or was canceled.
func (m *restoration) startDetached(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Minute)
	defer cancel()
	if err := m.startServices(ctx); err != nil {
		m.r.LogError(ctx, "%s could not be started again: %s", strings.Join(m.state.Services, ", "), failure.Text(err))
	}
}

// listUsers returns the services that use a mount and run.
func (k *Backups) listUsers(ctx context.Context, st *record.Stack, b *Record) ([]string, error) {
	users := []string{}
	services, err := k.Store.ListStackServices(ctx, st.ID)
	if err != nil {
		return nil, err
	}
	list, err := k.cfg.Host.ContainersOf(ctx, st.Project, "")
	if err != nil {
		return nil, err
	}
	for _, svc := range services {
		uses := svc.ID == b.ServiceID || slices.ContainsFunc(svc.Mounts,
			func(m record.Mount) bool { return m.Kind == b.Kind && m.Name == b.Target })
		runs := slices.ContainsFunc(list, func(c engine.Container) bool {
			return c.Labels[host.LabelService] == svc.Name &&
				c.State == "running"
		})
		if uses && runs {
			users = append(users, svc.Name)
		}
	}
	return users, nil
}

func (k *Backups) readArchive(ctx context.Context, container string, b *Record, f io.Reader) error {
	plain, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("unpack the backup: %w", err)
	}
	return k.cfg.Host.Engine().Restore(ctx, container, b.Destination, plain)
}
