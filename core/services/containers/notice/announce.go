package notice

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/news"
	"github.com/patchbay-dev/patchbay/core/services/containers/version"
	"github.com/patchbay-dev/patchbay/core/store"
)

const (
	// JobType is the type of the jobs that tell the channels what another job has found or done.
	JobType = "containers.announce"
	// displayWait is how long they wait for the versions behind floating tags.
	displayWait = 10 * time.Second
)

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
	switch n.cfg.Events.NotificationKind(&job) {
	case news.JobFinished:
		why, err = n.announceUpdate(ctx, &job)
	case news.NewVersionDiscovered:
		why, err = n.announceVersions(ctx, &job)
	case news.WebhookAnomaly:
		why, err = n.announceAnomaly(ctx, &job)
	}
	if err != nil {
		return nil, queue.Temporary(err)
	}
	if why != "" {
		n.cfg.Log.Info("no notification was sent", "job", job.ID, "type", strings.TrimPrefix(job.Type, n.cfg.Service+"."), "reason", why)
	}
	return map[string]any{"skipped": why}, nil
}

// postForJob stores a message once for each job.
func (n *Notices) postForJob(ctx context.Context, job *queue.Job, m *notify.Message, to []notify.Recipient) (id string, err error) {
	id, _, err = n.cfg.Sender.Post(ctx, notify.Post{Service: n.cfg.Service, Key: m.Kind + "/" + job.ID, Message: m, To: to})
	return id, err
}

func (n *Notices) announceUpdate(ctx context.Context, job *queue.Job) (why string, err error) {
	to, why, err := n.cfg.Channels.EventRecipients(ctx, news.JobFinished)
	if err != nil || why != "" {
		return why, err
	}
	ev, err := n.cfg.Events.FinishedUpdate(ctx, job)
	if err != nil {
		return "", err
	}
	m, err := n.NewsWriter(ctx).JobFinished(ev)
	if err != nil {
		return "", fmt.Errorf("write the notification: %w", err)
	}
	_, err = n.postForJob(ctx, job, m, to)
	return "", err
}

func (n *Notices) announceAnomaly(ctx context.Context, job *queue.Job) (why string, err error) {
	ev, err := n.cfg.Events.WebhookAnomaly(job)
	if err != nil {
		return "", err
	}
	if ev.Missing+ev.Conflict+ev.Error == 0 {
		return "all webhooks are in order", nil
	}
	to, why, err := n.cfg.Channels.EventRecipients(ctx, news.WebhookAnomaly)
	if err != nil || why != "" {
		return why, err
	}
	m, err := n.NewsWriter(ctx).WebhookAnomaly(ev)
	if err != nil {
		return "", fmt.Errorf("write the notification: %w", err)
	}
	_, err = n.postForJob(ctx, job, m, to)
	return "", err
}

// announceVersions tells what a check has found and nobody was told of, all in one message.
func (n *Notices) announceVersions(ctx context.Context, job *queue.Job) (why string, err error) {
	found, err := n.cfg.Events.FoundVersions(job)
	if err != nil {
		return "", err
	}
	if len(found.Versions) == 0 {
		return "there is no new version", nil
	}
	to, why, err := n.cfg.Channels.EventRecipients(ctx, news.NewVersionDiscovered)
	if err != nil || why != "" {
		return why, err
	}
	n.awaitVersions(ctx, found.Versions)
	current, err := n.cfg.Services.CurrentVersions(ctx, found.Versions)
	if err != nil {
		return "", err
	}
	err = n.store.Tx(ctx, "announce versions", func(ctx context.Context) error {
		if err := n.DropOutdated(ctx); err != nil {
			return err
		}
		fresh, err := n.store.storeNewNotices(ctx, n.newNotices(job, found.Reason, current))
		if err != nil || len(fresh) == 0 {
			why = "people were told of these versions before"
			return err
		}
		return n.postVersions(ctx, announced{job, found, current, fresh}, to)
	})
	return why, err
}

// awaitVersions waits for the search for the versions behind floating tags, for a while.
func (n *Notices) awaitVersions(ctx context.Context, found []FoundVersion) {
	var digests []string
	for _, v := range found {
		if !version.Strict(v.CandidateTag) {
			digests = append(digests, v.CurrentDigest, v.CandidateDigest)
		}
	}
	if len(digests) > 0 {
		n.cfg.Services.AwaitVersions(ctx, digests, displayWait)
	}
}

// newNotices returns the notices of what a check found, for the services that still have that candidate.
func (n *Notices) newNotices(job *queue.Job, reason string, current []CurrentVersion) (rows []noticeRecord) {
	for _, c := range current {
		svc := c.Service
		rows = append(rows, noticeRecord{
			ID: store.NewID("nvn"), ServiceID: svc.ID, JobID: job.ID, Reason: reason, ImageRef: svc.ImageRef().String(), ImageTag: svc.Tag,
			CurrentTag: svc.Tag, CurrentDisplayTag: ReadableVersion(svc.RuntimeVersion, svc.Tag), CandidateTag: svc.CandidateTag,
			CandidateDisplayTag: ReadableVersion(svc.CandidateVersion, svc.CandidateTag), CandidateDigest: svc.CandidateDigest,
			Status:       noticePending,
			SentChannels: []string{}, CreatedAt: store.Millis(n.cfg.Now()),
		})
	}
	return rows
}

// ReadableVersion returns the version that a person can tell: what was found behind a digest, else a tag that is a version; empty if
// there is neither.
func ReadableVersion(found, tag string) string {
	if found == "" && version.Strict(tag) {
		return tag
	}
	return found
}

// announced is what a message about new versions tells: the notices that nobody was told of yet.
type announced struct {
	job     *queue.Job
	found   FoundVersions
	current []CurrentVersion
	rows    []noticeRecord
}

// postVersions sends the message for some news. The caller has a transaction.
func (n *Notices) postVersions(ctx context.Context, a announced, to []notify.Recipient) error {
	ev := news.NewVersionsEvent{JobID: a.job.ID, JobStatus: string(a.job.State), Scope: a.found.Scope,
		ServicesChecked: a.found.ServicesChecked}
	named := map[string]news.Service{}
	for _, c := range a.current {
		named[c.Service.ID] = c.Named
	}
	ids := make([]string, len(a.rows))
	for i, row := range a.rows {
		ids[i] = row.ID
		change := news.VersionChange{
			Service: named[row.ServiceID], CurrentTag: row.CurrentTag, CandidateTag: row.CandidateTag, CurrentDisplay: row.CurrentDisplayTag,
			CandidateDisplay: row.CandidateDisplayTag,
		}
		if change.CurrentDisplay == change.CandidateDisplay {
			// A new build of the same version: that it is the same tells nothing.
			change.CurrentDisplay, change.CandidateDisplay = "", ""
		}
		ev.Services = append(ev.Services, change)
	}
	m, err := n.NewsWriter(ctx).NewVersions(ev)
	if err != nil {
		return fmt.Errorf("write the notification: %w", err)
	}
	id, err := n.postForJob(ctx, a.job, m, to)
	if err != nil {
		return err
	}
	return n.store.setMessage(ctx, ids, id)
}
