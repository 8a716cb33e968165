package notice

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/news"
	"github.com/patchbay-dev/patchbay/core/store"
)

var anomalyKind = Kind{
	Name: news.WebhookAnomaly, Schema: news.SchemaAnomaly, Event: "ghcrWebhookAnomaly", Switch: "anomaly", announce: (*Notices).announceAnomaly,
	sample: sampleAnomaly,
}

// announceAnomaly tells which webhooks an audit has found out of order.
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
	_, err = n.postForJob(ctx, job, to, m, err)
	return "", err
}

func sampleAnomaly(w news.Writer, _ string, _ []news.Service) (*notify.Message, error) {
	return w.WebhookAnomaly(news.AnomalyEvent{JobID: store.NewID("job"), Status: "success", Missing: 1,
		Repos: []news.AnomalyRepo{{FullName: "owner/repo", State: "missing"}}})
}
