package notice

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/news"
	"github.com/patchbay-dev/patchbay/core/store"
)

var updateKind = Kind{
	Name: news.JobFinished, Schema: news.SchemaJob, Event: "update", Switch: "update", announce: (*Notices).announceUpdate, sample: sampleUpdate,
}

// announceUpdate tells what an update has done.
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
	_, err = n.postForJob(ctx, job, to, m, err)
	return "", err
}

func sampleUpdate(w news.Writer, by string, some []news.Service) (*notify.Message, error) {
	changed := []news.VersionChange{sampleChange(some[0])}
	return w.JobFinished(news.JobEvent{
		ID: store.NewID("job"), Type: "update", Scope: "service", Status: "success", Reason: "ui", CreatedBy: by, CreatedAt: w.Now,
		StartedAt: w.Now, FinishedAt: w.Now, StackID: some[0].StackID, ServiceID: some[0].ServiceID, Changed: changed, Affected: changed,
	})
}
