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

// change is what people read of a change of version: nothing where neither side is readable, and the tag of a side that
// is not.
func (v VersionChange) change() (current, candidate string, ok bool) {
	current, candidate = name(v.CurrentDisplay), name(v.CandidateDisplay)
	if current == "" && candidate == "" {
		return "", "", false
	}
	current, candidate = firstOf(current, name(v.CurrentTag)), firstOf(candidate, name(v.CandidateTag))
	return current, candidate, current != "" && candidate != ""
}

func (v VersionChange) part() *versionPart {
	return &versionPart{
		CurrentTag: field(v.CurrentTag), CandidateTag: field(v.CandidateTag),
		CurrentDisplayTag:   firstOf(field(v.CurrentDisplay), field(v.CurrentTag)),
		CandidateDisplayTag: firstOf(field(v.CandidateDisplay), field(v.CandidateTag)),
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
	m.Links = w.links(sdk.Link{Label: w.word(open), URL: l.PrimaryURL})
	out, err := w.message(m, p)
	if err == nil && len(e.Services) > 1 {
		// The payload's summary lists them, for readers that show nothing else; for people the title counts them and the
		// detail lists them, with links.
		out.Summary = sdk.Text{}
	}
	return out, err
}

// oneVersion has one sentence; what can be done about it is the link.
func (w Writer) oneVersion(m *notify.Message, v VersionChange) {
	sentence := w.word("version.one", "service", label(v.Service))
	if current, candidate, ok := v.change(); ok {
		sentence = w.word("version.one.change", "service", label(v.Service), "current", current, "candidate", candidate)
	}
	m.Title, m.Summary = inline(serviceOf(v.Service)), document{{head: words(sentence)}}.text()
	if d := w.hint(); len(d) > 0 {
		m.Detail = append(d, block{head: w.linked(w.word("open.service"), w.serviceURL(v.Service))}).text()
	}
}

// changeLabel is the service with its versions, where they are readable.
func (w Writer) changeLabel(v VersionChange) string {
	current, candidate, ok := v.change()
	if !ok {
		return label(v.Service)
	}
	return w.word("version.item.change", "service", label(v.Service), "current", current, "candidate", candidate)
}

func (w Writer) manyVersions(m *notify.Message, e NewVersionsEvent) {
	listed, omitted := first(e.Services)
	summary := block{head: words(w.count("version.many.summary", len(e.Services)))}
	detail := block{}
	for _, v := range listed {
		item := w.changeLabel(v)
		summary.items = append(summary.items, words(item))
		detail.items = append(detail.items, w.linked(item, w.serviceURL(v.Service)))
	}
	if omitted > 0 {
		summary.tail = words(w.count("more", omitted))
		detail.tail = summary.tail
	}
	m.Title, m.Summary = inline(w.count("version.many", len(e.Services))), document{summary}.text()
	d := append(w.hint(), detail)
	m.Detail = w.places(d, block{head: w.linked(w.word("open.check"), w.jobURL(e.JobID))}).text()
}

func (w Writer) versionsPayload(e NewVersionsEvent) (p payload, l *links, err error) {
	p.Check, err = encode(checkPart{
		JobID: field(e.JobID), Status: field(e.JobStatus), Scope: field(e.Scope), ServicesChecked: max(e.ServicesChecked, 0), NewVersions: len(e.Services),
	})
	if err != nil {
		return p, nil, err
	}
	listed, omitted := first(e.Services)
	var entries []serviceLink
	for _, v := range listed {
		entries = append(entries, w.serviceLink(v.Service, v.part()))
	}
	l = &links{PrimaryURL: w.jobURL(e.JobID), JobURL: w.jobURL(e.JobID), Truncated: truncated{ServiceURLsOmitted: &omitted}}
	if len(e.Services) == 1 {
		l.PrimaryURL = firstOf(w.serviceURL(e.Services[0].Service), l.JobURL)
	}
	l.ServiceURLs, err = encodeAll(entries)
	p.Links = l
	return p, l, err
}
