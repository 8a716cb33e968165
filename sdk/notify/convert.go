package notify

import (
	"time"

	notifyv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/notify/v1"
	sharedv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/shared/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

func (t Text) toProto() *notifyv1.Text {
	if t == (Text{}) {
		return nil
	}
	return &notifyv1.Text{Plain: t.Plain, Markdown: t.Markdown, Html: t.HTML}
}

func textFrom(p *notifyv1.Text) Text {
	return Text{Plain: p.GetPlain(), Markdown: p.GetMarkdown(), HTML: p.GetHtml()}
}

func (n *Notification) toProto() *notifyv1.Notification {
	out := &notifyv1.Notification{
		Id: n.ID, Kind: n.Kind, SchemaVersion: int32(n.Version), Severity: notifyv1.Severity(n.Severity),
		Title: n.Title.toProto(), Summary: n.Summary.toProto(), Detail: n.Detail.toProto(), Payload: n.Payload, ImagePng: n.Image,
	}
	if !n.SentAt.IsZero() {
		out.SentAtUnixMs = n.SentAt.UnixMilli()
	}
	for _, l := range n.Links {
		out.Links = append(out.Links, &notifyv1.Link{Label: l.Label, Url: l.URL})
	}
	return out
}

func notificationFrom(p *notifyv1.Notification) *Notification {
	out := &Notification{
		ID: p.GetId(), Kind: p.GetKind(), Version: int(p.GetSchemaVersion()), Severity: Severity(p.GetSeverity()),
		Title: textFrom(p.GetTitle()), Summary: textFrom(p.GetSummary()), Detail: textFrom(p.GetDetail()),
		Payload: p.GetPayload(), Image: p.GetImagePng(),
	}
	if p.GetSentAtUnixMs() != 0 {
		out.SentAt = time.UnixMilli(p.GetSentAtUnixMs()).UTC()
	}
	for _, l := range p.GetLinks() {
		out.Links = append(out.Links, Link{Label: l.GetLabel(), URL: l.GetUrl()})
	}
	return out
}

func (t Target) toProto() *notifyv1.Target {
	if t.Empty() {
		return nil
	}
	out := &notifyv1.Target{Json: t.JSON}
	if t.Secret != "" {
		out.Secret = &sharedv1.Secret{Value: []byte(t.Secret.Reveal())}
	}
	return out
}

func targetFrom(p *notifyv1.Target) Target {
	return Target{JSON: p.GetJson(), Secret: schema.Secret(p.GetSecret().GetValue())}
}

func (r *Receipt) toProto() *notifyv1.SendResponse {
	out := &notifyv1.SendResponse{ProviderMessageIds: r.MessageIDs, Warnings: r.Warnings}
	for _, p := range r.Delivered {
		out.Delivered = append(out.Delivered, notifyv1.Part(p))
	}
	return out
}

func receiptFrom(p *notifyv1.SendResponse) *Receipt {
	out := &Receipt{MessageIDs: p.GetProviderMessageIds(), Warnings: p.GetWarnings()}
	for _, part := range p.GetDelivered() {
		out.Delivered = append(out.Delivered, Part(part))
	}
	return out
}
