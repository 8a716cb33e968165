package news

import (
	"slices"

	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/notify/card"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// The states in which a job ends.
const (
	statusSuccess    = "success"
	statusFailed     = "failed"
	statusRolledBack = "rolled_back"
	statusCanceled   = "canceled"
)

type jobPart struct {
	ID         string `json:"id"`
	Type       string `json:"type"`
	Scope      string `json:"scope"`
	Status     string `json:"status"`
	Reason     string `json:"reason"`
	CreatedBy  string `json:"createdBy"`
	CreatedAt  string `json:"createdAt,omitempty"`
	StartedAt  string `json:"startedAt,omitempty"`
	FinishedAt string `json:"finishedAt,omitempty"`
	StackID    string `json:"stackId,omitempty"`
	ServiceID  string `json:"serviceId,omitempty"`
}

// outcome is how a way to end is called in the ids of texts, and how much it matters.
type outcome struct {
	key      string
	severity sdk.Severity
	tone     card.Tone
}

func newOutcome(e JobEvent) outcome {
	switch e.Status {
	case statusSuccess:
		return outcome{"success", sdk.Success, card.Success}
	case statusFailed:
		return outcome{"failed", sdk.Error, card.Error}
	case statusRolledBack:
		if e.Canceled {
			return outcome{"undone", sdk.Info, card.Neutral}
		}
		return outcome{"rolled", sdk.Warning, card.Warning}
	case statusCanceled:
		return outcome{"canceled", sdk.Info, card.Neutral}
	}
	return outcome{"other", sdk.Info, card.Neutral}
}

// subjectServices returns those that the message is about: what changed if the job succeeded, else what did not change; where that is not
// known, all that the job was about. There are none where all changed and the job ended otherwise.
func (e JobEvent) subjectServices() []VersionChange {
	only, ok := e.onlyService()
	switch unchanged := e.unchangedServices(); {
	case e.Status == statusSuccess && len(e.Changed) > 0:
		return e.Changed
	case e.Status != statusSuccess && len(unchanged) > 0:
		return unchanged
	case len(e.Changed) > 0:
		return nil
	case len(e.Affected) > 0:
		return e.Affected
	case ok:
		return []VersionChange{only}
	}
	return nil
}

// unchangedServices returns the services that failed, or where none is named those that the job was about and did not change.
func (e JobEvent) unchangedServices() []VersionChange {
	if len(e.Failed) > 0 {
		return e.Failed
	}
	return slices.DeleteFunc(slices.Clone(e.Affected), func(a VersionChange) bool {
		return slices.ContainsFunc(e.Changed, func(c VersionChange) bool { return c.ServiceID == a.ServiceID })
	})
}

// otherChanges returns the services that changed although the message is about others.
func (e JobEvent) otherChanges() []VersionChange {
	if all := e.subjectServices(); len(e.Changed) > 0 && (len(all) == 0 || all[0] != e.Changed[0]) {
		return e.Changed
	}
	return nil
}

// onlyService returns the one service that an update maps to, if there is exactly one.
func (e JobEvent) onlyService() (VersionChange, bool) {
	if e.Scope == "service" && e.ServiceID != "" {
		for _, s := range slices.Concat(e.Changed, e.Failed, e.Affected) {
			if s.ServiceID == e.ServiceID {
				return s, true
			}
		}
		return VersionChange{Service: Service{StackID: e.StackID, ServiceID: e.ServiceID}}, true
	}
	if len(e.Changed) == 1 {
		return e.Changed[0], true
	}
	return VersionChange{}, false
}

// JobFinished writes out that an update job has ended. The job must have an id.
func (w Writer) JobFinished(e JobEvent) (*notify.Message, error) {
	if e.ID == "" {
		return nil, errNoJob
	}
	p, l, err := w.jobPayload(e)
	if err != nil {
		return nil, err
	}
	o := newOutcome(e)
	m := notify.Message{
		Kind: JobFinished, Schema: SchemaJob, Severity: o.severity,
		Title:   inlineText(w.fillText("job.title", "status", w.jobStatus(e, o))),
		Summary: document{{head: plainLine(w.jobSummary(e, o))}}.renderAll(),
		Detail:  w.jobDetail(e).renderAll(),
		Card:    w.jobCard(e, o),
	}
	open := "open.service"
	if l.PrimaryURL == l.JobURL {
		open = "open.job"
	}
	m.Links = w.absoluteLinks(sdk.Link{Label: w.fillText(open), URL: l.PrimaryURL}, sdk.Link{Label: w.fillText("open.job"), URL: l.JobURL})
	return w.finishMessage(m, p)
}

func (w Writer) jobStatus(e JobEvent, o outcome) string {
	if o.key != "other" {
		return w.fillText("job.status." + o.key)
	}
	return cleanName(e.Status)
}

func (w Writer) jobSummary(e JobEvent, o outcome) string {
	status := w.jobStatus(e, o)
	if len(e.subjectServices()) == 0 {
		return w.fillText("job.none."+o.key, "status", status)
	}
	return w.fillText("job."+o.key, "subject", w.jobSubject(e), "status", status)
}

// jobSubject returns the one service with its versions, or how many there are.
func (w Writer) jobSubject(e JobEvent) string {
	all := e.subjectServices()
	if len(all) != 1 {
		return w.countText("job.subject.many", len(all))
	}
	if current, candidate, ok := all[0].readableChange(); ok {
		return w.fillText("job.subject.one.change", "service", serviceLabel(all[0].Service), "current", current, "candidate", candidate)
	}
	return w.fillText("job.subject.one", "service", serviceLabel(all[0].Service))
}

func (w Writer) jobDetail(e JobEvent) document {
	head := "job.affected"
	switch {
	case e.Status == statusSuccess && len(e.Changed) > 0:
		head = "job.changed"
	case e.Status != statusSuccess && len(e.Failed)+len(e.Changed) > 0:
		head = "job.unchanged"
	}
	d := w.serviceBlock(w.serviceBlock(w.pathHint(), head, e.subjectServices()), "job.changed", e.otherChanges())
	if why := oneLine(e.Failure, maxExcerpt); why != "" {
		d = append(d, block{head: plainLine(w.fillText("job.failure", "reason", why))})
	}
	if text := cleanExcerpt(e.Excerpt); text != "" && text != cleanExcerpt(e.Failure) {
		d = append(d, block{head: plainLine(w.fillText("job.excerpt")), code: text})
	}
	return w.addLinks(d, block{head: w.linkedLine(w.fillText("open.job"), w.pageURL("queue", e.ID))})
}

// serviceBlock adds a list of services with their versions, if there are any.
func (w Writer) serviceBlock(d document, head string, all []VersionChange) document {
	if len(all) == 0 {
		return d
	}
	listed, omitted := firstEntries(all)
	b := block{head: plainLine(w.fillText(head))}
	for _, v := range listed {
		b.items = append(b.items, w.linkedLine(w.changeLabel(v), w.serviceURL(v.Service)))
	}
	if omitted > 0 {
		b.tail = plainLine(w.countText("more", omitted))
	}
	return append(d, b)
}

func (w Writer) jobPayload(e JobEvent) (p payload, l *links, err error) {
	p.Job, err = encodeJSON(jobPart{
		ID: cleanField(e.ID), Type: cleanField(e.Type), Scope: cleanField(e.Scope), Status: cleanField(e.Status), Reason: cleanField(e.Reason),
		CreatedBy: cleanField(e.CreatedBy),
		CreatedAt: formatRFC3339(e.CreatedAt), StartedAt: formatRFC3339(e.StartedAt), FinishedAt: formatRFC3339(e.FinishedAt),
		StackID: cleanField(e.StackID), ServiceID: cleanField(e.ServiceID),
	})
	if err != nil {
		return p, nil, err
	}
	listed, omitted := firstEntries(slices.Concat(e.subjectServices(), e.otherChanges()))
	var entries []serviceLink
	for _, v := range listed {
		entries = append(entries, w.serviceLink(v.Service, nil))
	}
	l = &links{PrimaryURL: w.pageURL("queue", e.ID), JobURL: w.pageURL("queue", e.ID), Truncated: truncated{ServiceURLsOmitted: &omitted}}
	if only, ok := e.onlyService(); ok {
		l.PrimaryURL = firstText(w.serviceURL(only.Service), l.JobURL)
	}
	l.ServiceURLs, err = encodeAll(entries)
	p.Links = l
	return p, l, err
}
