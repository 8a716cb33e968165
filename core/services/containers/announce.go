package containers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/news"
	"github.com/patchbay-dev/patchbay/core/services/containers/version"
	"github.com/patchbay-dev/patchbay/core/store"
)

const (
	// jobAnnounce tells the channels what a job has found or done.
	jobAnnounce = jobPrefix + "announce"
	// displayWait is how long it waits for the versions behind floating tags.
	displayWait = 10 * time.Second
	// noticesKeep is for how long it is remembered which new versions were told.
	noticesKeep = 180 * 24 * time.Hour
)

// announcement is the payload of jobAnnounce.
type announcement struct {
	JobID string `json:"jobId"`
}

// jobEnded runs in the transaction in which a job ends: the changes that it has left open are ended, so is news whose version is no candidate
// any more, and a job is made that tells people.
func (s *Service) jobEnded(ctx context.Context, job queue.Job) error {
	if slices.Contains([]string{JobUpdate, JobRollback}, publicType(job.Type)) {
		if err := s.endAbandonedChanges(ctx, &job); err != nil {
			s.log.Error("changes that a job has left open could not be ended; the housekeeping ends them", "job", job.ID, "error", err)
		}
	}
	if slices.Contains([]string{JobCheck, JobUpdate, JobRollback, JobDiscovery, JobRuntimeScan}, publicType(job.Type)) {
		// It is done again before anything is sent, and must not keep the announcement from being made.
		if err := s.repo.dropOutdatedNotices(ctx, s.now()); err != nil {
			s.log.Warn("old notices could not be ended", "job", job.ID, "error", err)
		}
	}
	if s.notificationKind(&job) == "" {
		return nil
	}
	_, _, err := s.queue.Submit(ctx, queue.Submission{Type: jobAnnounce, DedupKey: "announce/" + job.ID, Payload: announcement{JobID: job.ID}, Actor: job.Actor})
	return err
}

// jobAbout is what decides which notification the end of a job makes, in the payload of whatever type.
type jobAbout struct {
	jobSubject
	Mode string `json:"mode"`
	Op   string `json:"op"`
}

// notificationKind returns the kind of notification that the end of a job makes; empty for none.
func (s *Service) notificationKind(job *queue.Job) string {
	var spec jobAbout
	if job.Decode(&spec) != nil || job.StartedAt.IsZero() {
		return ""
	}
	switch publicType(job.Type) {
	case JobUpdate:
		if spec.Mode != ModeDryRun {
			return news.JobFinished
		}
	case JobCheck:
		if job.State == queue.Success && (spec.Reason == ReasonSchedule || spec.Reason == ReasonWebhook) {
			return news.NewVersionDiscovered
		}
	case JobHook:
		if job.State == queue.Success && spec.Op == hookAuditAll && spec.Reason == ReasonSchedule {
			return news.WebhookAnomaly
		}
	}
	return ""
}

// runAnnounce tells the channels of a job that has ended.
func (s *Service) runAnnounce(ctx context.Context, own *queue.Job, _ queue.Progress) (any, error) {
	var in announcement
	if err := own.Decode(&in); err != nil {
		return nil, err
	}
	job, err := s.queue.Get(ctx, in.JobID)
	var gone *fault.Error
	if errors.As(err, &gone) && gone.Code == fault.NotFound {
		return map[string]any{"skipped": "the job is not kept any more"}, nil
	}
	if err != nil {
		return nil, queue.Temporary(fmt.Errorf("read the job: %w", err))
	}
	why := ""
	switch s.notificationKind(&job) {
	case news.JobFinished:
		why, err = s.announceUpdate(ctx, &job)
	case news.NewVersionDiscovered:
		why, err = s.announceVersions(ctx, &job)
	case news.WebhookAnomaly:
		why, err = s.announceAnomaly(ctx, &job)
	}
	if err != nil {
		return nil, queue.Temporary(err)
	}
	if why != "" {
		s.log.Info("no notification was sent", "job", job.ID, "type", publicType(job.Type), "reason", why)
	}
	return map[string]any{"skipped": why}, nil
}

// newsWriter returns a writer of messages in the service's language.
func (s *Service) newsWriter(ctx context.Context) news.Writer {
	return news.Writer{
		Locale: s.settings().Locale, BaseURL: s.PublicPages(ctx), SitePath: sitePath(s.settings().BaseURL), Version: s.coreVersion(), Source: "containers", Now: s.cfg.Now(),
	}
}

// sitePath is the path of a base URL, with a slash at the end.
func sitePath(base string) string {
	if u, err := url.Parse(base); err == nil {
		base = u.Path
	}
	return strings.TrimSuffix(base, "/") + "/"
}

// PublicPages is the public address of the service's pages, which ends with a slash; empty without a public base URL.
func (s *Service) PublicPages(ctx context.Context) string {
	return publicPages(s.PublicBaseURL(ctx), sitePath(s.settings().BaseURL))
}

// publicPages is the public address of the pages: the public base URL, and their path where that does not end with it.
func publicPages(public, site string) string {
	u, err := url.Parse(public)
	if public == "" || err != nil || strings.HasSuffix("/"+strings.Trim(u.EscapedPath(), "/")+"/", site) {
		return public
	}
	return u.JoinPath(site).String()
}

// postForJob stores a message once for each job.
func (s *Service) postForJob(ctx context.Context, job *queue.Job, m *notify.Message, to []notify.Recipient) (id string, err error) {
	id, _, err = s.cfg.Sender.Post(ctx, notify.Post{Service: ServiceName, Key: m.Kind + "/" + job.ID, Message: m, To: to})
	return id, err
}

func (s *Service) announceUpdate(ctx context.Context, job *queue.Job) (why string, err error) {
	to, why, err := s.cfg.Channels.EventRecipients(ctx, news.JobFinished)
	if err != nil || why != "" {
		return why, err
	}
	ev, err := s.updateEvent(ctx, job)
	if err != nil {
		return "", err
	}
	m, err := s.newsWriter(ctx).JobFinished(ev)
	if err != nil {
		return "", fmt.Errorf("write the notification: %w", err)
	}
	_, err = s.postForJob(ctx, job, m, to)
	return "", err
}

func (s *Service) announceAnomaly(ctx context.Context, job *queue.Job) (why string, err error) {
	var sum AuditSummary
	if err := json.Unmarshal(job.Result, &sum); err != nil {
		return "", fmt.Errorf("read what the audit found: %w", err)
	}
	if sum.Missing+sum.Conflict+sum.Error == 0 {
		return "all webhooks are in order", nil
	}
	to, why, err := s.cfg.Channels.EventRecipients(ctx, news.WebhookAnomaly)
	if err != nil || why != "" {
		return why, err
	}
	ev := news.AnomalyEvent{JobID: job.ID, Status: string(job.State), Missing: sum.Missing, Conflict: sum.Conflict, Error: sum.Error}
	for _, r := range sum.Repos {
		ev.Repos = append(ev.Repos, news.AnomalyRepo{FullName: r.Repo, State: r.Status, LastError: r.Error})
	}
	m, err := s.newsWriter(ctx).WebhookAnomaly(ev)
	if err != nil {
		return "", fmt.Errorf("write the notification: %w", err)
	}
	_, err = s.postForJob(ctx, job, m, to)
	return "", err
}

// announceVersions tells what a check has found and nobody was told of, all in one message.
func (s *Service) announceVersions(ctx context.Context, job *queue.Job) (why string, err error) {
	var sum CheckSummary
	if err := json.Unmarshal(job.Result, &sum); err != nil {
		return "", fmt.Errorf("read what the check found: %w", err)
	}
	if len(sum.NewVersions.Services) == 0 {
		return "there is no new version", nil
	}
	to, why, err := s.cfg.Channels.EventRecipients(ctx, news.NewVersionDiscovered)
	if err != nil || why != "" {
		return why, err
	}
	s.awaitVersions(ctx, sum.NewVersions.Services)
	inv, err := s.loadInventory(ctx)
	if err != nil {
		return "", err
	}
	err = s.cfg.Store.Tx(ctx, "announce versions", func(ctx context.Context) error {
		if err := s.repo.dropOutdatedNotices(ctx, s.now()); err != nil {
			return err
		}
		fresh, err := s.repo.storeNewNotices(ctx, s.newNotices(inv, job, sum.NewVersions.Services))
		if err != nil || len(fresh) == 0 {
			why = "people were told of these versions before"
			return err
		}
		return s.postVersions(ctx, job, &sum, inv, fresh, to)
	})
	return why, err
}

// awaitVersions waits for the search for the versions behind floating tags, for a while.
func (s *Service) awaitVersions(ctx context.Context, found []NewVersion) {
	var digests []string
	for _, v := range found {
		if !version.Strict(v.CandidateTag) {
			digests = append(digests, v.CurrentDigest, v.CandidateDigest)
		}
	}
	if len(digests) > 0 {
		s.inference.awaitDigests(ctx, digests, displayWait)
	}
}

// newNotices returns the news in what a check found, for services that still have that candidate.
func (s *Service) newNotices(inv *inventory, job *queue.Job, found []NewVersion) (rows []noticeRecord) {
	var spec jobSubject
	_ = job.Decode(&spec)
	for _, v := range found {
		svc := inv.services[v.ServiceID]
		if svc == nil || svc.CandidateDigest != v.CandidateDigest || inv.isArchived(svc) || inv.ignoringRule(svc) != nil {
			continue
		}
		rows = append(rows, noticeRecord{
			ID: store.NewID("nvn"), ServiceID: svc.ID, JobID: job.ID, Reason: spec.Reason, ImageRef: svc.ImageRef().String(), ImageTag: svc.Tag,
			CurrentTag: svc.Tag, CurrentDisplayTag: readableVersion(svc.RuntimeVersion, svc.Tag), CandidateTag: svc.CandidateTag,
			CandidateDisplayTag: readableVersion(svc.CandidateVersion, svc.CandidateTag), CandidateDigest: svc.CandidateDigest, Status: noticePending,
			SentChannels: []string{}, CreatedAt: s.now(),
		})
	}
	return rows
}

// readableVersion returns the version that a person can tell: what was found behind a digest, else a tag that is a version; empty if
// there is neither.
func readableVersion(found, tag string) string {
	if found == "" && version.Strict(tag) {
		return tag
	}
	return found
}

// postVersions sends the message for some news. The caller has a transaction.
func (s *Service) postVersions(ctx context.Context, job *queue.Job, sum *CheckSummary, inv *inventory, rows []noticeRecord, to []notify.Recipient) error {
	ev := news.NewVersionsEvent{JobID: job.ID, JobStatus: string(job.State), Scope: sum.Scope, ServicesChecked: sum.ServicesChecked}
	ids := make([]string, len(rows))
	for i, n := range rows {
		ids[i] = n.ID
		change := news.VersionChange{
			Service: inv.appendNamed(nil, n.ServiceID)[0], CurrentTag: n.CurrentTag, CandidateTag: n.CandidateTag, CurrentDisplay: n.CurrentDisplayTag, CandidateDisplay: n.CandidateDisplayTag,
		}
		if change.CurrentDisplay == change.CandidateDisplay {
			// A new build of the same version: that it is the same tells nothing.
			change.CurrentDisplay, change.CandidateDisplay = "", ""
		}
		ev.Services = append(ev.Services, change)
	}
	m, err := s.newsWriter(ctx).NewVersions(ev)
	if err != nil {
		return fmt.Errorf("write the notification: %w", err)
	}
	id, err := s.postForJob(ctx, job, m, to)
	if err != nil {
		return err
	}
	return s.cfg.Store.Writer(ctx).Model(&noticeRecord{}).Where("id IN ?", ids).Update("message_id", id).Error
}
