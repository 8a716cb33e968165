package news

import (
	"strconv"
	"strings"

	"github.com/patchbay-dev/patchbay/core/notify"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

type auditPart struct {
	ID             string `json:"id"`
	Status         string `json:"status"`
	Missing        int    `json:"missing"`
	Conflict       int    `json:"conflict"`
	Error          int    `json:"error"`
	TotalAnomalies int    `json:"totalAnomalies"`
}

// total is how many repositories are concerned, also where not all of them are named.
func (e AnomalyEvent) total() int {
	return max(max(e.Missing, 0)+max(e.Conflict, 0)+max(e.Error, 0), len(e.Repos))
}

// WebhookAnomaly writes out what an audit found. The job must have an id, and there must be an anomaly.
func (w Writer) WebhookAnomaly(e AnomalyEvent) (*notify.Message, error) {
	switch {
	case e.JobID == "":
		return nil, errNoJob
	case e.total() == 0:
		return nil, errNoAnomaly
	}
	p, err := w.anomalyPayload(e)
	if err != nil {
		return nil, err
	}
	return w.message(notify.Message{
		Kind: WebhookAnomaly, Schema: SchemaAnomaly, Severity: sdk.Warning,
		Title:   inline(w.word("anomaly.title")),
		Summary: document{{head: words(w.anomalySummary(e))}}.text(),
		Detail:  w.anomalyDetail(e).text(),
		Links: w.links(
			sdk.Link{Label: w.word("open.job"), URL: p.Links.JobURL},
			sdk.Link{Label: w.word("open.settings"), URL: p.Links.SettingsURL}),
		Card: w.anomalyCard(e),
	}, p)
}

func (w Writer) anomalySummary(e AnomalyEvent) string {
	n := strconv.Itoa(e.total())
	if len(e.Repos) == 0 {
		return w.word("anomaly.summary.none", "n", n)
	}
	listed, _ := first(e.Repos)
	var repos []string
	for _, r := range listed {
		repos = append(repos, w.word("anomaly.state", "repo", repoOf(r), "state", name(r.State)))
	}
	if omitted := e.total() - len(listed); omitted > 0 {
		repos = append(repos, w.count("moreRepos", omitted))
	}
	return w.word("anomaly.summary", "n", n, "repos", strings.Join(repos, w.word("enum")))
}

func (w Writer) anomalyDetail(e AnomalyEvent) document {
	d := w.hint()
	if listed, _ := first(e.Repos); len(listed) > 0 {
		b := block{head: words(w.word("anomaly.head"))}
		for _, r := range listed {
			b.items = append(b.items, words(w.anomalyLine(r)))
		}
		if omitted := e.total() - len(listed); omitted > 0 {
			b.tail = words(w.count("moreRepos", omitted))
		}
		d = append(d, b)
	}
	return w.places(d,
		block{head: w.linked(w.word("open.job"), w.jobURL(e.JobID))},
		block{head: w.linked(w.word("open.settings"), w.settingsURL())})
}

func (w Writer) anomalyLine(r AnomalyRepo) string {
	if why := oneLine(r.LastError, maxField); why != "" {
		return w.word("anomaly.error", "repo", repoOf(r), "state", name(r.State), "error", why)
	}
	return w.word("anomaly.state", "repo", repoOf(r), "state", name(r.State))
}

func repoOf(r AnomalyRepo) string { return firstOf(name(r.FullName), "-") }

func (w Writer) anomalyPayload(e AnomalyEvent) (p payload, err error) {
	p.Job, err = encode(auditPart{
		ID: field(e.JobID), Status: field(e.Status), Missing: max(e.Missing, 0), Conflict: max(e.Conflict, 0), Error: max(e.Error, 0),
		TotalAnomalies: e.total(),
	})
	if err != nil {
		return p, err
	}
	listed, _ := first(e.Repos)
	var entries []repoPart
	for _, r := range listed {
		full := field(r.FullName)
		owner, repo, _ := strings.Cut(full, "/")
		entries = append(entries, repoPart{
			Owner: owner, Repo: repo, FullName: full, State: field(r.State), Status: field(r.State), LastError: oneLine(r.LastError, maxExcerpt),
		})
	}
	omitted := e.total() - len(listed)
	job := w.jobURL(e.JobID)
	p.Links = &links{PrimaryURL: job, JobURL: job, SettingsURL: w.settingsURL(), Truncated: truncated{ReposOmitted: &omitted}}
	p.Links.Repos, err = encodeAll(entries)
	return p, err
}
