package kinds

import (
	"slices"

	"github.com/patchbay-dev/patchbay/core/notify/card"
	"github.com/patchbay-dev/patchbay/sdk/notify"
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
	severity notify.Severity
	tone     card.Tone
}

func outcomeOf(status string) outcome {
	switch status {
	case statusSuccess:
		return outcome{"success", notify.Success, card.Success}
	case statusFailed:
		return outcome{"failed", notify.Error, card.Error}
	case statusRolledBack:
		return outcome{"rolled", notify.Warning, card.Warning}
	case statusCanceled:
		return outcome{"canceled", notify.Info, card.Neutral}
	}
	return outcome{"other", notify.Info, card.Neutral}
}

// services are those that changed, else those that the job was about.
func (e JobEvent) services() []Service {
	switch only, ok := e.only(); {
	case len(e.Changed) > 0:
		return e.Changed
	case len(e.Affected) > 0:
		return e.Affected
	case ok:
		return []Service{only}
	}
	return nil
}

// only is the one service that an update maps to, if there is exactly one.
func (e JobEvent) only() (Service, bool) {
	if e.Scope == "service" && e.ServiceID != "" {
		for _, s := range slices.Concat(e.Changed, e.Affected) {
			if s.ServiceID == e.ServiceID {
				return s, true
			}
		}
		return Service{StackID: e.StackID, ServiceID: e.ServiceID}, true
	}
	if len(e.Changed) == 1 {
		return e.Changed[0], true
	}
	return Service{}, false
}

// JobFinished writes out that an update job has ended. The job must have an id.
func (w Writer) JobFinished(e JobEvent) (*Message, error) {
	if e.ID == "" {
		return nil, errNoJob
	}
	p, l, err := w.jobPayload(e)
	if err != nil {
		return nil, err
	}
	o := outcomeOf(e.Status)
	m := Message{
		Kind: JobFinished, Schema: SchemaJob, Severity: o.severity,
		Title:   inline(w.word("job.title", "status", w.jobStatus(e.Status))),
		Summary: document{{head: words(w.jobSummary(e, o))}}.text(),
		Detail:  w.jobDetail(e).text(),
		Card:    w.jobCard(e, o),
	}
	open := "open.service"
	if l.PrimaryURL == l.JobURL {
		open = "open.job"
	}
	m.Links = w.links(notify.Link{Label: w.word(open), URL: l.PrimaryURL}, notify.Link{Label: w.word("open.job"), URL: l.JobURL})
	return w.message(m, p)
}

func (w Writer) jobStatus(status string) string {
	if o := outcomeOf(status); o.key != "other" {
		return w.word("job.status." + o.key)
	}
	return name(status)
}

func (w Writer) jobSummary(e JobEvent, o outcome) string {
	status := w.jobStatus(e.Status)
	if len(e.services()) == 0 {
		return w.word("job.none."+o.key, "status", status)
	}
	return w.word("job."+o.key, "subject", w.jobSubject(e), "status", status)
}

// jobSubject is the one service, or how many there are.
func (w Writer) jobSubject(e JobEvent) string {
	all := e.services()
	if only, ok := e.only(); ok {
		all = []Service{only}
	}
	if len(all) == 1 {
		return w.word("job.subject.one", "service", label(all[0]))
	}
	return w.count("job.subject.many", len(all))
}

func (w Writer) jobDetail(e JobEvent) document {
	d := w.hint()
	if all := e.services(); len(all) > 0 {
		head := "job.changed"
		if len(e.Changed) == 0 {
			head = "job.affected"
		}
		listed, omitted := first(all)
		b := block{head: words(w.word(head))}
		for _, s := range listed {
			b.items = append(b.items, w.linked(label(s), w.serviceURL(s)))
		}
		if omitted > 0 {
			b.tail = words(w.count("more", omitted))
		}
		d = append(d, b)
	}
	if why := oneLine(e.Failure, maxExcerpt); why != "" {
		d = append(d, block{head: words(w.word("job.failure", "reason", why))})
	}
	if text := excerpt(e.Excerpt); text != "" && text != excerpt(e.Failure) {
		d = append(d, block{head: words(w.word("job.excerpt")), code: text})
	}
	return w.places(d, block{head: w.linked(w.word("open.job"), w.jobURL(e.ID))})
}

func (w Writer) jobPayload(e JobEvent) (p payload, l *links, err error) {
	p.Job, err = encode(jobPart{
		ID: field(e.ID), Type: field(e.Type), Scope: field(e.Scope), Status: field(e.Status), Reason: field(e.Reason), CreatedBy: field(e.CreatedBy),
		CreatedAt: at(e.CreatedAt), StartedAt: at(e.StartedAt), FinishedAt: at(e.FinishedAt), StackID: field(e.StackID), ServiceID: field(e.ServiceID),
	})
	if err != nil {
		return p, nil, err
	}
	listed, omitted := first(e.services())
	var entries []serviceLink
	for _, s := range listed {
		entries = append(entries, w.serviceLink(s, nil))
	}
	l = &links{PrimaryURL: w.jobURL(e.ID), JobURL: w.jobURL(e.ID), Truncated: truncated{ServiceURLsOmitted: &omitted}}
	if only, ok := e.only(); ok {
		l.PrimaryURL = firstOf(w.serviceURL(only), l.JobURL)
	}
	l.ServiceURLs, err = encodeAll(entries)
	p.Links = l
	return p, l, err
}
