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

// outcome is how a way to end is called in the tables, and how much it matters.
type outcome struct {
	key      string
	severity sdk.Severity
	tone     card.Tone
}

func outcomeOf(e JobEvent) outcome {
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

// services are those that the message is about: what changed if the job succeeded, else what did not change; where that is not
// known, all that the job was about. There are none where all changed and the job ended otherwise.
func (e JobEvent) services() []VersionChange {
	only, ok := e.only()
	switch unchanged := e.unchanged(); {
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

// unchanged are the services that failed, or where none is named those that the job was about and did not change.
func (e JobEvent) unchanged() []VersionChange {
	if len(e.Failed) > 0 {
		return e.Failed
	}
	return slices.DeleteFunc(slices.Clone(e.Affected), func(a VersionChange) bool {
		return slices.ContainsFunc(e.Changed, func(c VersionChange) bool { return c.ServiceID == a.ServiceID })
	})
}

// besides are the services that changed although the message is about others.
func (e JobEvent) besides() []VersionChange {
	if all := e.services(); len(e.Changed) > 0 && (len(all) == 0 || all[0] != e.Changed[0]) {
		return e.Changed
	}
	return nil
}

// only is the one service that an update maps to, if there is exactly one.
func (e JobEvent) only() (VersionChange, bool) {
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
	o := outcomeOf(e)
	m := notify.Message{
		Kind: JobFinished, Schema: SchemaJob, Severity: o.severity,
		Title:   inline(w.word("job.title", "status", w.jobStatus(e, o))),
		Summary: document{{head: words(w.jobSummary(e, o))}}.text(),
		Detail:  w.jobDetail(e).text(),
		Card:    w.jobCard(e, o),
	}
	open := "open.service"
	if l.PrimaryURL == l.JobURL {
		open = "open.job"
	}
	m.Links = w.links(sdk.Link{Label: w.word(open), URL: l.PrimaryURL}, sdk.Link{Label: w.word("open.job"), URL: l.JobURL})
	return w.message(m, p)
}

func (w Writer) jobStatus(e JobEvent, o outcome) string {
	if o.key != "other" {
		return w.word("job.status." + o.key)
	}
	return name(e.Status)
}

func (w Writer) jobSummary(e JobEvent, o outcome) string {
	status := w.jobStatus(e, o)
	if len(e.services()) == 0 {
		return w.word("job.none."+o.key, "status", status)
	}
	return w.word("job."+o.key, "subject", w.jobSubject(e), "status", status)
}

// jobSubject is the one service with its versions, or how many there are.
func (w Writer) jobSubject(e JobEvent) string {
	all := e.services()
	if len(all) != 1 {
		return w.count("job.subject.many", len(all))
	}
	if current, candidate, ok := all[0].change(); ok {
		return w.word("job.subject.one.change", "service", label(all[0].Service), "current", current, "candidate", candidate)
	}
	return w.word("job.subject.one", "service", label(all[0].Service))
}

func (w Writer) jobDetail(e JobEvent) document {
	head := "job.affected"
	switch {
	case e.Status == statusSuccess && len(e.Changed) > 0:
		head = "job.changed"
	case e.Status != statusSuccess && len(e.Failed)+len(e.Changed) > 0:
		head = "job.unchanged"
	}
	d := w.serviceBlock(w.serviceBlock(w.hint(), head, e.services()), "job.changed", e.besides())
	if why := oneLine(e.Failure, maxExcerpt); why != "" {
		d = append(d, block{head: words(w.word("job.failure", "reason", why))})
	}
	if text := excerpt(e.Excerpt); text != "" && text != excerpt(e.Failure) {
		d = append(d, block{head: words(w.word("job.excerpt")), code: text})
	}
	return w.places(d, block{head: w.linked(w.word("open.job"), w.jobURL(e.ID))})
}

// serviceBlock adds a list of services with their versions, if there are any.
func (w Writer) serviceBlock(d document, head string, all []VersionChange) document {
	if len(all) == 0 {
		return d
	}
	listed, omitted := first(all)
	b := block{head: words(w.word(head))}
	for _, v := range listed {
		b.items = append(b.items, w.linked(w.changeLabel(v), w.serviceURL(v.Service)))
	}
	if omitted > 0 {
		b.tail = words(w.count("more", omitted))
	}
	return append(d, b)
}

func (w Writer) jobPayload(e JobEvent) (p payload, l *links, err error) {
	p.Job, err = encode(jobPart{
		ID: field(e.ID), Type: field(e.Type), Scope: field(e.Scope), Status: field(e.Status), Reason: field(e.Reason), CreatedBy: field(e.CreatedBy),
		CreatedAt: at(e.CreatedAt), StartedAt: at(e.StartedAt), FinishedAt: at(e.FinishedAt), StackID: field(e.StackID), ServiceID: field(e.ServiceID),
	})
	if err != nil {
		return p, nil, err
	}
	listed, omitted := first(slices.Concat(e.services(), e.besides()))
	var entries []serviceLink
	for _, v := range listed {
		entries = append(entries, w.serviceLink(v.Service, nil))
	}
	l = &links{PrimaryURL: w.jobURL(e.ID), JobURL: w.jobURL(e.ID), Truncated: truncated{ServiceURLsOmitted: &omitted}}
	if only, ok := e.only(); ok {
		l.PrimaryURL = firstOf(w.serviceURL(only.Service), l.JobURL)
	}
	l.ServiceURLs, err = encodeAll(entries)
	p.Links = l
	return p, l, err
}
