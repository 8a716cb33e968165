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

// anomalyCount returns how many repositories are concerned, also where not all of them are named.
func (e AnomalyEvent) anomalyCount() int {
	return max(max(e.Missing, 0)+max(e.Conflict, 0)+max(e.Error, 0), len(e.Repos))
}

// WebhookAnomaly writes out what an audit found. The job must have an id, and there must be an anomaly.
func (w Writer) WebhookAnomaly(e AnomalyEvent) (*notify.Message, error) {
	switch {
	case e.JobID == "":
		return nil, errNoJob
	case e.anomalyCount() == 0:
		return nil, errNoAnomaly
	}
	p, err := w.anomalyPayload(e)
	if err != nil {
		return nil, err
	}
	return w.finishMessage(notify.Message{
		Kind: WebhookAnomaly, Schema: SchemaAnomaly, Severity: sdk.Warning,
		Title:   inlineText(w.fillText("anomaly.title")),
		Summary: document{{head: plainLine(w.anomalySummary(e))}}.renderAll(),
		Detail:  w.anomalyDetail(e).renderAll(),
		Links: w.absoluteLinks(
			sdk.Link{Label: w.fillText("open.job"), URL: p.Links.JobURL},
			sdk.Link{Label: w.fillText("open.settings"), URL: p.Links.SettingsURL}),
		Card: w.anomalyCard(e),
	}, p)
}

func (w Writer) anomalySummary(e AnomalyEvent) string {
	n := strconv.Itoa(e.anomalyCount())
	if len(e.Repos) == 0 {
		return w.fillText("anomaly.summary.none", "n", n)
	}
	listed, _ := firstEntries(e.Repos)
	var repos []string
	for _, r := range listed {
		repos = append(repos, w.fillText("anomaly.state", "repo", cleanRepo(r), "state", cleanName(r.State)))
	}
	if omitted := e.anomalyCount() - len(listed); omitted > 0 {
		repos = append(repos, w.countText("moreRepos", omitted))
	}
	return w.fillText("anomaly.summary", "n", n, "repos", strings.Join(repos, w.fillText("enum")))
}

func (w Writer) anomalyDetail(e AnomalyEvent) document {
	d := w.pathHint()
	if listed, _ := firstEntries(e.Repos); len(listed) > 0 {
		b := block{head: plainLine(w.fillText("anomaly.head"))}
		for _, r := range listed {
			b.items = append(b.items, plainLine(w.anomalyLine(r)))
		}
		if omitted := e.anomalyCount() - len(listed); omitted > 0 {
			b.tail = plainLine(w.countText("moreRepos", omitted))
		}
		d = append(d, b)
	}
	return w.addLinks(d,
		block{head: w.linkedLine(w.fillText("open.job"), w.pageURL("queue", e.JobID))},
		block{head: w.linkedLine(w.fillText("open.settings"), w.pageURL("settings"))})
}

func (w Writer) anomalyLine(r AnomalyRepo) string {
	if why := oneLine(r.LastError, maxField); why != "" {
		return w.fillText("anomaly.error", "repo", cleanRepo(r), "state", cleanName(r.State), "error", why)
	}
	return w.fillText("anomaly.state", "repo", cleanRepo(r), "state", cleanName(r.State))
}

func cleanRepo(r AnomalyRepo) string { return firstText(cleanName(r.FullName), "-") }

func (w Writer) anomalyPayload(e AnomalyEvent) (p payload, err error) {
	p.Job, err = encodeJSON(auditPart{
		ID: cleanField(e.JobID), Status: cleanField(e.Status), Missing: max(e.Missing, 0), Conflict: max(e.Conflict, 0), Error: max(e.Error, 0),
		TotalAnomalies: e.anomalyCount(),
	})
	if err != nil {
		return p, err
	}
	listed, _ := firstEntries(e.Repos)
	var entries []repoPart
	for _, r := range listed {
		full := cleanField(r.FullName)
		owner, repo, _ := strings.Cut(full, "/")
		entries = append(entries, repoPart{
			Owner: owner, Repo: repo, FullName: full, State: cleanField(r.State), Status: cleanField(r.State),
			LastError: oneLine(r.LastError, maxExcerpt),
		})
	}
	omitted := e.anomalyCount() - len(listed)
	job := w.pageURL("queue", e.JobID)
	p.Links = &links{PrimaryURL: job, JobURL: job, SettingsURL: w.pageURL("settings"), Truncated: truncated{ReposOmitted: &omitted}}
	p.Links.Repos, err = encodeAll(entries)
	return p, err
}
