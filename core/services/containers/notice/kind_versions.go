package notice

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/news"
	"github.com/patchbay-dev/patchbay/core/services/containers/version"
	"github.com/patchbay-dev/patchbay/core/store"
)

var versionsKind = Kind{
	Name: news.NewVersionDiscovered, Schema: news.SchemaVersion, Event: "newVersion", Switch: "version", announce: (*Notices).announceVersions,
	sample: sampleVersions,
}

// displayWait is how long the versions behind floating tags are waited for.
const displayWait = 10 * time.Second

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
	id, err := n.postForJob(ctx, a.job, to, m, err)
	if err != nil {
		return err
	}
	return n.store.setMessage(ctx, ids, id)
}

func sampleVersions(w news.Writer, _ string, some []news.Service) (*notify.Message, error) {
	ev := news.NewVersionsEvent{JobID: store.NewID("job"), JobStatus: "success", Scope: "all", ServicesChecked: len(some)}
	for _, svc := range some {
		ev.Services = append(ev.Services, sampleChange(svc))
	}
	return w.NewVersions(ev)
}
