package change

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/services/containers/backup"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// backupMounts copies the mounts of the service. The service is stopped meanwhile, so that the copies are consistent.
func (c *change) backupMounts(ctx context.Context) error {
	if err := c.s.cfg.Backups.FailOpenBackups(ctx, c.rec.JobID, c.svc.ID); err != nil {
		return err
	}
	plan, err := c.s.cfg.Backups.PlanBackup(ctx, &c.svc, c.spec.BackupMode)
	if err != nil || len(plan) == 0 {
		return err
	}
	list, err := c.s.cfg.Host.ContainersOf(ctx, c.stack.Project, c.svc.Name)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		c.r.LogInfo(ctx, "%s: there is no container yet, so nothing to back up", c.displayName())
		return nil
	}
	if c.rec.FromState != record.StateStopped {
		c.reportProgress(ctx, 0.5, "stopping "+c.svc.Name+" for the backup")
		if err := c.stopService(ctx); err != nil {
			return err
		}
	}
	backedUp := backup.Subject{StackID: c.stack.ID, ServiceID: c.svc.ID, JobID: c.rec.JobID, Name: c.displayName(), Log: c.r}
	for _, p := range plan {
		c.reportProgress(ctx, 0.52, "backing up "+p.Name)
		res, err := c.s.cfg.Backups.BackupMount(ctx, backedUp, list[0].ID, p)
		c.outcome.Backups = append(c.outcome.Backups, res)
		if err != nil {
			return err
		}
	}
	return nil
}

// stopDetached is stop for a job that may have been cancelled.
func (c *change) stopDetached(ctx context.Context) error {
	ctx, cancel := work.OutlastJob(ctx, 5*time.Minute)
	defer cancel()
	return c.stopService(ctx)
}

func (c *change) stopService(ctx context.Context) error {
	_, err := c.s.cfg.Host.RunCompose(ctx, c.r, &c.stack, host.ComposeCall{Action: engine.ActionStop, Services: []string{c.svc.Name}})
	return err
}

// startAgain starts a service that was stopped for a backup or a restore. It is tried even if the job was cancelled.
func (c *change) startAgain(ctx context.Context) {
	if c.rec.FromState == record.StateStopped {
		return
	}
	ctx, cancel := work.OutlastJob(ctx, 5*time.Minute)
	defer cancel()
	if _, err := c.s.cfg.Host.RunCompose(ctx, c.r, &c.stack, c.composeCall(engine.ActionStart)); err != nil {
		c.r.LogError(ctx, "%s: it could not be started again: %s", c.displayName(), failure.Text(err))
		return
	}
	c.dependentSteps().restartDependents(ctx)
}
