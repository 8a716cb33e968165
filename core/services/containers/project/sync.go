package project

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/image"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/store"
)

// SaveProject writes a project if more than the times of the scan has changed, or these are old.
func (d *Discovery) SaveProject(ctx context.Context, k *knownProject, p record.Project) error {
	old := k.Project
	old.LastSeenAt, old.LastScanAt = p.LastSeenAt, p.LastScanAt
	if reflect.DeepEqual(old, p) && p.LastScanAt-k.Project.LastScanAt < QuietScan {
		return nil
	}
	return d.store.writeProject(ctx, &k.Project, &p)
}

// QuietScan is for how long, in milliseconds, a scan that changed nothing is not written.
const QuietScan = 30_000

// syncProject brings the stack of a project and its services to what the files say. Who archived something by hand finds it
// archived still; what a discovery archived comes back when it is there again.
func (d *Discovery) syncProject(ctx context.Context, k *knownProject, p *record.Project, found *compose.Project,
	envFiles []string) (changed bool, err error) {
	st := record.Stack{ID: store.NewID("stk"), Project: p.Project, CreatedAt: d.now()}
	if k.stack != nil {
		st = *k.stack
	}
	if p.ArchivedReason == record.ArchivedMissing {
		p.ArchivedAt, p.ArchivedReason = 0, ""
	}
	next := st
	next.WorkingDir, next.Files, next.EnvFiles = p.WorkingDir, p.Files, append([]string(nil), envFiles...)
	if next.ArchivedReason == record.ArchivedMissing {
		next.ArchivedAt, next.ArchivedReason = 0, ""
	}
	rows := d.serviceChanges(&next, k.services, found)
	p.StackID = next.ID
	moved := k.stack == nil || st.WorkingDir != next.WorkingDir || !slices.Equal(st.Files, next.Files) ||
		!slices.Equal(st.EnvFiles, next.EnvFiles) || st.ArchivedAt != next.ArchivedAt
	if !moved && len(rows) == 0 {
		return false, d.SaveProject(ctx, k, *p)
	}
	if k.stack != nil {
		// Whole rows are written: they are read again, since a check or an update may have changed them.
		services, err := d.store.ListStackServices(ctx, st.ID)
		if err != nil {
			return false, fmt.Errorf("read the services of %s: %w", p.Project, err)
		}
		rows = d.serviceChanges(&next, services, found)
	}
	err = d.store.Tx(ctx, "sync a project", func(ctx context.Context) error {
		next.UpdatedAt = d.now()
		if err := d.store.WriteStack(ctx, &st, &next); err != nil {
			return err
		}
		for i := range rows {
			if err := d.store.WriteService(ctx, &rows[i]); err != nil {
				return err
			}
		}
		return d.SaveProject(ctx, k, *p)
	})
	if err != nil {
		return false, fmt.Errorf("write the stack %s: %w", p.Project, err)
	}
	return true, nil
}

// serviceChanges are the rows that differ from what the files say: new services, changed ones, and those that are gone.
func (d *Discovery) serviceChanges(st *record.Stack, services []record.Service, found *compose.Project) []ServiceRow {
	var rows []ServiceRow
	seen := map[string]bool{}
	for _, f := range found.Services {
		seen[f.Name] = true
		i := slices.IndexFunc(services, func(r record.Service) bool { return r.Name == f.Name })
		old := record.Service{}
		if i >= 0 {
			old = services[i]
		} else {
			old = d.newService(st.ID, f.Name)
		}
		next := describedBy(old, f)
		if i < 0 || !old.IsDescribedAs(next) {
			next.UpdatedAt = d.now()
			rows = append(rows, ServiceRow{fresh: i < 0, Old: old, Next: next})
		}
	}
	for _, r := range services {
		if !seen[r.Name] && r.ArchivedAt == 0 {
			next := r
			next.ArchivedAt, next.ArchivedReason, next.UpdatedAt = d.now(), record.ArchivedRemoved, d.now()
			rows = append(rows, ServiceRow{Old: r, Next: next})
		}
	}
	return rows
}

// newService returns the record of a service that a stack did not have before.
func (d *Discovery) newService(stackID, name string) record.Service {
	return record.Service{
		ID: store.NewID("svc"), StackID: stackID, Name: name, State: record.StateUnknown, AutoRollback: true,
		BackupTargets: record.BackupTargets{}.WithDefaults(), MinAge: -1, CreatedAt: d.now(),
	}
}

// describedBy returns the record r with what the files say of the service. If the image differs, its candidate is cleared.
func describedBy(r record.Service, f compose.Service) record.Service {
	if r.ArchivedReason == record.ArchivedRemoved {
		r.ArchivedAt, r.ArchivedReason = 0, ""
	}
	r.Profiles, r.Mounts, r.Built, r.Awaited = append([]string(nil), f.Profiles...), listMounts(f), f.HasBuild, f.Awaited
	ref, text := f.Ref, f.Image
	legible := ref != image.Ref{}
	if legible {
		text = ref.String()
	}
	if r.Image == text {
		return r
	}
	r.Image, r.Repo, r.Tag, r.Pinned = text, "", "", ""
	if legible {
		r.Repo, r.Tag, r.Pinned = ref.Repo(), ref.Tag, ref.Digest
	}
	r.CandidateDigest, r.CandidateTag, r.CandidateMatch, r.CandidateArch, r.CandidateVersion, r.CandidateSince = "", "", "", nil, "", 0
	r.NewerTags, r.CheckError, r.CheckReason, r.CheckedAt, r.TagDigest = nil, "", "", 0, ""
	r.RuntimeDigest, r.RuntimeVersion = "", ""
	r.Generation++
	return r
}

func listMounts(f compose.Service) []record.Mount {
	var out []record.Mount
	for _, m := range f.Volumes {
		mount := record.Mount{Kind: m.Kind, Name: m.Name, Destination: m.Target, ReadOnly: m.ReadOnly}
		if m.Kind == compose.BindMount {
			mount.Name = m.Source
		}
		out = append(out, mount)
	}
	return out
}

// Project is a compose project as discovery saw it last.
type Project struct {
	Project     string               `json:"project" example:"blog"`
	Status      record.ProjectStatus `json:"status" enum:"active,stopped,missing,invalid"`
	StackID     string               `json:"stackId,omitempty"`
	ConfigFiles []string             `json:"configFiles,omitempty"`
	LastSeenAt  api.Time             `json:"lastSeenAt,omitempty,omitzero"`
	LastScanAt  api.Time             `json:"lastScanAt,omitempty,omitzero"`
	LastError   string               `json:"lastError,omitempty" doc:"Why the project cannot be used, or a warning."`
	Archived    bool                 `json:"archived"`
	Move        *record.ProjectMove  `json:"move,omitempty" doc:"Where the containers come from, while the stack has other files. Nothing is taken over before somebody accepts it."`
}

// ListProjects lists what discovery has seen, by name.
func (p *Projects) ListProjects(ctx context.Context, archived string) ([]Project, error) {
	if err := validArchived(archived); err != nil {
		return nil, err
	}
	rows, err := p.store.ListProjects(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the projects: %w", err)
	}
	out := []Project{}
	for _, r := range rows {
		if matchesArchived(archived, r.ArchivedAt != 0) {
			out = append(out, Project{
				Project: r.Project, Status: r.Status, StackID: r.StackID, ConfigFiles: r.Files, LastSeenAt: api.TimeOfMillis(r.LastSeenAt),
				LastScanAt: api.TimeOfMillis(r.LastScanAt),
				LastError:  r.LastError, Archived: r.ArchivedAt != 0, Move: r.Move,
			})
		}
	}
	return out, nil
}

// ArchiveProject hides a project, and the stack that belongs to it, or shows both again.
func (p *Projects) ArchiveProject(ctx context.Context, name string, archive bool) error {
	row, err := p.store.FindProject(ctx, name)
	if err != nil {
		return err
	}
	at, why := int64(0), ""
	if archive {
		at, why = p.now(), record.ArchivedByUser
	}
	columns := func() map[string]any { return map[string]any{"archived_at": at, "archived_reason": why} }
	return p.store.Tx(ctx, "archive a project", func(ctx context.Context) error {
		if err := p.store.updateProject(ctx, name, columns()); err != nil {
			return err
		}
		if row.StackID == "" {
			return nil
		}
		err := p.store.UpdateStack(ctx, row.StackID, columns(), p.now())
		if fault.CodeOf(err) == fault.NotFound {
			return nil
		}
		return err
	})
}
