package notice

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"strings"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/notify/card"
	"github.com/patchbay-dev/patchbay/core/services/containers/news"
)

// Preview is what a notification of a kind looks like, written about this instance's own services.
type Preview struct {
	Kind, Title, Summary, Detail string
	// HTML is a fragment of the whole text, for channels that show HTML.
	HTML    string
	Payload json.RawMessage
}

// Preview writes a notification of a kind, and sends nothing.
func (n *Notices) Preview(ctx context.Context, kind string) (Preview, error) {
	m, err := n.writeSample(ctx, kind)
	if err != nil {
		return Preview{}, err
	}
	out := Preview{Kind: kind, Title: m.Title.Plain, Summary: m.Summary.Plain, Detail: m.Detail.Plain, Payload: m.Payload}
	var b strings.Builder
	fmt.Fprintf(&b, "<h1>%s</h1>", html.EscapeString(m.Title.Plain))
	for _, part := range []string{m.Summary.HTML, m.Detail.HTML} {
		b.WriteString(part)
	}
	for _, l := range m.Links {
		fmt.Fprintf(&b, `<p><a href="%s">%s</a></p>`, html.EscapeString(l.URL), html.EscapeString(l.Label))
	}
	out.HTML = b.String()
	return out, nil
}

// PreviewCard draws the card of a notification of a kind, a PNG.
func (n *Notices) PreviewCard(ctx context.Context, kind string) ([]byte, error) {
	m, err := n.writeSample(ctx, kind)
	if err != nil {
		return nil, err
	}
	return card.Draw(*m.Card)
}

// writeSample writes a notification of a kind, with services of this instance where there are any.
func (n *Notices) writeSample(ctx context.Context, kind string) (*notify.Message, error) {
	k, ok := findKind(kind)
	if !ok {
		return nil, fault.New(fault.NotFound, "There is no kind of notification %q.", kind)
	}
	w := n.NewsWriter(ctx)
	some, err := n.cfg.Services.SomeServices(ctx, 3)
	if err != nil {
		return nil, err
	}
	if len(some) == 0 {
		some = append(some, news.Service{StackID: "stk_0", StackName: "stack", ServiceID: "svc_0", ServiceName: "service"})
	}
	return k.Sample(w, auth.Caller(ctx), some)
}

func sampleChange(svc news.Service) news.VersionChange {
	return news.VersionChange{Service: svc, CurrentTag: "latest", CandidateTag: "latest", CurrentDisplay: "1.4.2", CandidateDisplay: "1.5.0"}
}
