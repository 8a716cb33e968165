package news

import (
	"github.com/patchbay-dev/patchbay/core/notify"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

type checkPart struct {
	JobID           string `json:"jobId"`
	Status          string `json:"status"`
	Scope           string `json:"scope"`
	ServicesChecked int    `json:"servicesChecked"`
	NewVersions     int    `json:"newVersions"`
}

// readableChange returns what people read of a change of version: nothing where neither side is readable, and the tag of a side that
// is not.
func (v VersionChange) readableChange() (current, candidate string, ok bool) {
	current, candidate = cleanName(v.CurrentDisplay), cleanName(v.CandidateDisplay)
	if current == "" && candidate == "" {
		return "", "", false
	}
	current, candidate = firstText(current, cleanName(v.CurrentTag)), firstText(candidate, cleanName(v.CandidateTag))
	return current, candidate, current != "" && candidate != ""
}

func (v VersionChange) versionPart() *versionPart {
	return &versionPart{
		CurrentTag: cleanField(v.CurrentTag), CandidateTag: cleanField(v.CandidateTag),
		CurrentDisplayTag:   firstText(cleanField(v.CurrentDisplay), cleanField(v.CurrentTag)),
		CandidateDisplayTag: firstText(cleanField(v.CandidateDisplay), cleanField(v.CandidateTag)),
	}
}

// NewVersions writes out what a check found. The job must have an id, and there must be a service.
func (w Writer) NewVersions(e NewVersionsEvent) (*notify.Message, error) {
	switch {
	case e.JobID == "":
		return nil, errNoJob
	case len(e.Services) == 0:
		return nil, errNoServices
	}
	p, l, err := w.versionsPayload(e)
	if err != nil {
		return nil, err
	}
	m := notify.Message{Kind: NewVersionDiscovered, Schema: SchemaVersion, Severity: sdk.Info, Card: w.versionsCard(e)}
	open := "open.check"
	if len(e.Services) == 1 {
		w.oneVersion(&m, e.Services[0])
		if l.PrimaryURL != l.JobURL {
			open = "open.service"
		}
	} else {
		w.manyVersions(&m, e)
	}
	m.Links = w.absoluteLinks(sdk.Link{Label: w.fillText(open), URL: l.PrimaryURL})
	out, err := w.finishMessage(m, p)
	if err == nil && len(e.Services) > 1 {
		// The payload's summary lists them, for readers that show nothing else; for people the title counts them and the
		// detail lists them, with links.
		out.Summary = sdk.Text{}
	}
	return out, err
}

// oneVersion has one sentence; what can be done about it is the link.
func (w Writer) oneVersion(m *notify.Message, v VersionChange) {
	sentence := w.fillText("version.one", "service", serviceLabel(v.Service))
	if current, candidate, ok := v.readableChange(); ok {
		sentence = w.fillText("version.one.change", "service", serviceLabel(v.Service), "current", current, "candidate", candidate)
	}
	m.Title, m.Summary = inlineText(cleanService(v.Service)), document{{head: plainLine(sentence)}}.renderAll()
	if d := w.pathHint(); len(d) > 0 {
		m.Detail = append(d, block{head: w.linkedLine(w.fillText("open.service"), w.serviceURL(v.Service))}).renderAll()
	}
}

// changeLabel returns the service with its versions, where they are readable.
func (w Writer) changeLabel(v VersionChange) string {
	current, candidate, ok := v.readableChange()
	if !ok {
		return serviceLabel(v.Service)
	}
	return w.fillText("version.item.change", "service", serviceLabel(v.Service), "current", current, "candidate", candidate)
}

func (w Writer) manyVersions(m *notify.Message, e NewVersionsEvent) {
	listed, omitted := firstEntries(e.Services)
	summary := block{head: plainLine(w.countText("version.many.summary", len(e.Services)))}
	detail := block{}
	for _, v := range listed {
		item := w.changeLabel(v)
		summary.items = append(summary.items, plainLine(item))
		detail.items = append(detail.items, w.linkedLine(item, w.serviceURL(v.Service)))
	}
	if omitted > 0 {
		summary.tail = plainLine(w.countText("more", omitted))
		detail.tail = summary.tail
	}
	m.Title, m.Summary = inlineText(w.countText("version.many", len(e.Services))), document{summary}.renderAll()
	d := append(w.pathHint(), detail)
	m.Detail = w.addLinks(d, block{head: w.linkedLine(w.fillText("open.check"), w.pageURL("queue", e.JobID))}).renderAll()
}

func (w Writer) versionsPayload(e NewVersionsEvent) (p payload, l *links, err error) {
	p.Check, err = encodeJSON(checkPart{
		JobID: cleanField(e.JobID), Status: cleanField(e.JobStatus), Scope: cleanField(e.Scope), ServicesChecked: max(e.ServicesChecked, 0),
		NewVersions: len(e.Services),
	})
	if err != nil {
		return p, nil, err
	}
	listed, omitted := firstEntries(e.Services)
	var entries []serviceLink
	for _, v := range listed {
		entries = append(entries, w.serviceLink(v.Service, v.versionPart()))
	}
	l = &links{PrimaryURL: w.pageURL("queue", e.JobID), JobURL: w.pageURL("queue", e.JobID), Truncated: truncated{ServiceURLsOmitted: &omitted}}
	if len(e.Services) == 1 {
		l.PrimaryURL = firstText(w.serviceURL(e.Services[0].Service), l.JobURL)
	}
	l.ServiceURLs, err = encodeAll(entries)
	p.Links = l
	return p, l, err
}
