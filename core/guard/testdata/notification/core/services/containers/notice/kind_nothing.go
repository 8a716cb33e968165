package notice

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/news"
)

var nothingKind = Kind{
	Name: news.NothingHappened, Schema: news.SchemaNothing, Event: "nothing", Switch: "nothing", announce: (*Notices).announceNothing,
	sample: func(w news.Writer, _ string, _ []news.Service) (*notify.Message, error) {
		return w.NothingHappened(news.NothingEvent{Day: "today"})
	},
}

// announceNothing tells that a job has found nothing.
func (n *Notices) announceNothing(ctx context.Context, job *queue.Job) (why string, err error) {
	to, why, err := n.cfg.Channels.EventRecipients(ctx, news.NothingHappened)
	if err != nil || why != "" {
		return why, err
	}
	m, err := n.NewsWriter(ctx).NothingHappened(news.NothingEvent{Day: job.FinishedAt.Format("Monday")})
	_, err = n.postForJob(ctx, job, to, m, err)
	return "", err
}
