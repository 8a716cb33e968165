package notice

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/queue"
)

// JobType is the type of the jobs that tell the channels what another job has found or done.
const JobType = "containers.announce"

// announcement is the payload of the jobs of JobType.
type announcement struct {
	JobID string `json:"jobId"`
}

// Submit queues the job that tells of a job's end, if people are told of it. The caller has the transaction in which that one ends.
func (n *Notices) Submit(ctx context.Context, job *queue.Job) error {
	if n.cfg.Events.NotificationKind(job) == "" {
		return nil
	}
	_, _, err := n.queue.Submit(ctx, queue.Submission{Type: JobType, DedupKey: "announce/" + job.ID, Payload: announcement{JobID: job.ID},
		Actor: job.Actor})
	return err
}

// RunAnnounce tells the channels of a job that has ended.
func (n *Notices) RunAnnounce(ctx context.Context, own *queue.Job, _ queue.Progress) (any, error) {
	var in announcement
	if err := own.Decode(&in); err != nil {
		return nil, err
	}
	job, err := n.queue.Get(ctx, in.JobID)
	var gone *fault.Error
	if errors.As(err, &gone) && gone.Code == fault.NotFound {
		return map[string]any{"skipped": "the job is not kept any more"}, nil
	}
	if err != nil {
		return nil, queue.Temporary(fmt.Errorf("read the job: %w", err))
	}
	why := ""
	if k, ok := findKind(n.cfg.Events.NotificationKind(&job)); ok {
		why, err = k.announce(n, ctx, &job)
	}
	if err != nil {
		return nil, queue.Temporary(err)
	}
	if why != "" {
		n.cfg.Log.Info("notification not sent", "job", job.ID, "type", strings.TrimPrefix(job.Type, n.cfg.Service+"."), "reason", why)
	}
	return map[string]any{"skipped": why}, nil
}

// postForJob stores the message that was written for a job, once for each.
func (n *Notices) postForJob(ctx context.Context, job *queue.Job, to []notify.Recipient, m *notify.Message, err error) (id string, _ error) {
	if err != nil {
		return "", fmt.Errorf("write the notification: %w", err)
	}
	id, _, err = n.cfg.Sender.Post(ctx, notify.Post{Service: n.cfg.Service, Key: m.Kind + "/" + job.ID, Message: m, To: to})
	return id, err
}
