package codehost

import (
	"time"

	codehostv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/codehost/v1"
)

// unixMS returns a time in milliseconds; 0 for the zero time.
func unixMS(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// timeFrom returns the inverse of unixMS.
func timeFrom(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// convertAll converts the items of a list.
func convertAll[I, O any](items []I, convert func(I) O) []O {
	var out []O
	for _, item := range items {
		out = append(out, convert(item))
	}
	return out
}

func (v Validators) toProto() *codehostv1.Validators {
	if v == (Validators{}) {
		return nil
	}
	return &codehostv1.Validators{Etag: v.ETag, LastModified: v.LastModified}
}

func validatorsFrom(p *codehostv1.Validators) Validators {
	return Validators{ETag: p.GetEtag(), LastModified: p.GetLastModified()}
}

func (r PageRequest) toProto() *codehostv1.PageRequest {
	return &codehostv1.PageRequest{Cursor: r.Cursor, Size: uint32(min(max(r.Size, 0), MaxPage+1)), Validators: r.Validators.toProto()}
}

func pageFrom(p *codehostv1.PageRequest) PageRequest {
	return PageRequest{Cursor: p.GetCursor(), Size: int(p.GetSize()), Validators: validatorsFrom(p.GetValidators())}
}

func (m Meta) toProto() *codehostv1.Meta {
	out := &codehostv1.Meta{
		NextCursor: m.NextCursor, NotModified: m.NotModified, Validators: m.Validators.toProto(), PollIntervalMs: m.PollInterval.Milliseconds(),
	}
	if m.Quota != nil {
		out.Quota = &codehostv1.Quota{Limit: m.Quota.Limit, Remaining: m.Quota.Remaining, ResetUnixMs: unixMS(m.Quota.ResetAt)}
	}
	return out
}

func metaFrom(p *codehostv1.Meta) Meta {
	out := Meta{
		NextCursor: p.GetNextCursor(), NotModified: p.GetNotModified(), Validators: validatorsFrom(p.GetValidators()),
		PollInterval: time.Duration(p.GetPollIntervalMs()) * time.Millisecond,
	}
	if q := p.GetQuota(); q != nil {
		out.Quota = &Quota{Limit: q.GetLimit(), Remaining: q.GetRemaining(), ResetAt: timeFrom(q.GetResetUnixMs())}
	}
	return out
}

func (a Account) toProto() *codehostv1.Account {
	if a == (Account{}) {
		return nil
	}
	return &codehostv1.Account{Id: a.ID, Login: a.Login, Name: a.Name, AvatarUrl: a.AvatarURL, HtmlUrl: a.HTMLURL}
}

func accountFrom(p *codehostv1.Account) Account {
	return Account{ID: p.GetId(), Login: p.GetLogin(), Name: p.GetName(), AvatarURL: p.GetAvatarUrl(), HTMLURL: p.GetHtmlUrl()}
}

func (r Repository) toProto() *codehostv1.Repository {
	return &codehostv1.Repository{
		Id: r.ID, FullName: r.FullName, Description: r.Description, HtmlUrl: r.HTMLURL, Private: r.Private, Archived: r.Archived, Fork: r.Fork,
		Stars: r.Stars, Owner: r.Owner.toProto(), OpenGraphImageUrl: r.OpenGraphImageURL, CustomOpenGraphImage: r.CustomOpenGraphImage,
	}
}

func repositoryFrom(p *codehostv1.Repository) Repository {
	return Repository{
		ID: p.GetId(), FullName: p.GetFullName(), Description: p.GetDescription(), HTMLURL: p.GetHtmlUrl(), Private: p.GetPrivate(),
		Archived: p.GetArchived(), Fork: p.GetFork(), Stars: p.GetStars(), Owner: accountFrom(p.GetOwner()),
		OpenGraphImageURL: p.GetOpenGraphImageUrl(), CustomOpenGraphImage: p.GetCustomOpenGraphImage(),
	}
}

func (s Starred) toProto() *codehostv1.Starred {
	return &codehostv1.Starred{Repository: s.Repository.toProto(), StarredUnixMs: unixMS(s.StarredAt)}
}

func starredFrom(p *codehostv1.Starred) Starred {
	return Starred{Repository: repositoryFrom(p.GetRepository()), StarredAt: timeFrom(p.GetStarredUnixMs())}
}

func (r Release) toProto() *codehostv1.Release {
	return &codehostv1.Release{
		Id: r.ID, NodeId: r.NodeID, TagName: r.TagName, Name: r.Name, Body: r.Body, HtmlUrl: r.HTMLURL, CreatedUnixMs: unixMS(r.CreatedAt),
		PublishedUnixMs: unixMS(r.PublishedAt), Prerelease: r.Prerelease, Draft: r.Draft, Reactions: r.Reactions, Author: r.Author.toProto(),
	}
}

func releaseFrom(p *codehostv1.Release) Release {
	return Release{
		ID: p.GetId(), NodeID: p.GetNodeId(), TagName: p.GetTagName(), Name: p.GetName(), Body: p.GetBody(), HTMLURL: p.GetHtmlUrl(),
		CreatedAt: timeFrom(p.GetCreatedUnixMs()), PublishedAt: timeFrom(p.GetPublishedUnixMs()), Prerelease: p.GetPrerelease(),
		Draft:     p.GetDraft(),
		Reactions: p.GetReactions(), Author: accountFrom(p.GetAuthor()),
	}
}

func (t Tag) toProto() *codehostv1.Tag {
	return &codehostv1.Tag{Name: t.Name, Commit: t.Commit, HtmlUrl: t.HTMLURL, CreatedUnixMs: unixMS(t.CreatedAt)}
}

func tagFrom(p *codehostv1.Tag) Tag {
	return Tag{Name: p.GetName(), Commit: p.GetCommit(), HTMLURL: p.GetHtmlUrl(), CreatedAt: timeFrom(p.GetCreatedUnixMs())}
}

func (n Notification) toProto() *codehostv1.Notification {
	return &codehostv1.Notification{
		ThreadId: n.ThreadID, RepoFullName: n.RepoFullName, Title: n.Title, SubjectType: n.SubjectType, Reason: n.Reason,
		UpdatedUnixMs: unixMS(n.UpdatedAt), Unread: n.Unread, HtmlUrl: n.HTMLURL,
	}
}

func notificationFrom(p *codehostv1.Notification) Notification {
	return Notification{
		ThreadID: p.GetThreadId(), RepoFullName: p.GetRepoFullName(), Title: p.GetTitle(), SubjectType: p.GetSubjectType(), Reason: p.GetReason(),
		UpdatedAt: timeFrom(p.GetUpdatedUnixMs()), Unread: p.GetUnread(), HTMLURL: p.GetHtmlUrl(),
	}
}

func (s Stargazer) toProto() *codehostv1.Stargazer {
	return &codehostv1.Stargazer{Account: s.Account.toProto(), StarredUnixMs: unixMS(s.StarredAt)}
}

func stargazerFrom(p *codehostv1.Stargazer) Stargazer {
	return Stargazer{Account: accountFrom(p.GetAccount()), StarredAt: timeFrom(p.GetStarredUnixMs())}
}

func (e Event) toProto() *codehostv1.Event {
	return &codehostv1.Event{
		Id: e.ID, Type: e.Type, Actor: e.Actor.toProto(), RepoFullName: e.RepoFullName, TargetFullName: e.TargetFullName, Title: e.Title,
		TagName: e.TagName, HtmlUrl: e.HTMLURL, CreatedUnixMs: unixMS(e.CreatedAt),
	}
}

func eventFrom(p *codehostv1.Event) Event {
	return Event{
		ID: p.GetId(), Type: p.GetType(), Actor: accountFrom(p.GetActor()), RepoFullName: p.GetRepoFullName(),
		TargetFullName: p.GetTargetFullName(),
		Title:          p.GetTitle(), TagName: p.GetTagName(), HTMLURL: p.GetHtmlUrl(), CreatedAt: timeFrom(p.GetCreatedUnixMs()),
	}
}

func (a Announcement) toProto() *codehostv1.Announcement {
	return &codehostv1.Announcement{
		Id: a.ID, RepoFullName: a.RepoFullName, Title: a.Title, Body: a.Body, HtmlUrl: a.HTMLURL, Author: a.Author.toProto(),
		CreatedUnixMs: unixMS(a.CreatedAt), UpdatedUnixMs: unixMS(a.UpdatedAt),
	}
}

func announcementFrom(p *codehostv1.Announcement) Announcement {
	return Announcement{
		ID: p.GetId(), RepoFullName: p.GetRepoFullName(), Title: p.GetTitle(), Body: p.GetBody(), HTMLURL: p.GetHtmlUrl(),
		Author: accountFrom(p.GetAuthor()), CreatedAt: timeFrom(p.GetCreatedUnixMs()), UpdatedAt: timeFrom(p.GetUpdatedUnixMs()),
	}
}

func (r Reactions) toProto() *codehostv1.Reactions {
	return &codehostv1.Reactions{NodeId: r.NodeID, Counts: r.Counts, Viewer: r.Viewer}
}

func reactionsFrom(p *codehostv1.Reactions) Reactions {
	return Reactions{NodeID: p.GetNodeId(), Counts: p.GetCounts(), Viewer: p.GetViewer()}
}

func (c *Comparison) toProto() *codehostv1.CompareResponse {
	return &codehostv1.CompareResponse{
		Status: c.Status, AheadBy: c.AheadBy, BehindBy: c.BehindBy, TotalCommits: c.TotalCommits, HtmlUrl: c.HTMLURL, Meta: c.Meta.toProto(),
		Commits: convertAll(c.Commits, func(k Commit) *codehostv1.Commit {
			return &codehostv1.Commit{Hash: k.Hash, Subject: k.Subject}
		}),
		Files: convertAll(c.Files, func(f ChangedFile) *codehostv1.ChangedFile {
			return &codehostv1.ChangedFile{Path: f.Path, Status: f.Status, Additions: f.Additions, Deletions: f.Deletions, Patch: f.Patch}
		}),
	}
}

func comparisonFrom(p *codehostv1.CompareResponse) *Comparison {
	return &Comparison{
		Status: p.GetStatus(), AheadBy: p.GetAheadBy(), BehindBy: p.GetBehindBy(), TotalCommits: p.GetTotalCommits(), HTMLURL: p.GetHtmlUrl(),
		Meta: metaFrom(p.GetMeta()),
		Commits: convertAll(p.GetCommits(), func(k *codehostv1.Commit) Commit {
			return Commit{Hash: k.GetHash(), Subject: k.GetSubject()}
		}),
		Files: convertAll(p.GetFiles(), func(f *codehostv1.ChangedFile) ChangedFile {
			return ChangedFile{Path: f.GetPath(), Status: f.GetStatus(), Additions: f.GetAdditions(), Deletions: f.GetDeletions(),
				Patch: f.GetPatch()}
		}),
	}
}
