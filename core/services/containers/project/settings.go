package project

import (
	"context"
	"net/url"
	"strings"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// toServiceSettings returns what people have set for a service.
func toServiceSettings(svc *record.Service) ServiceSettings {
	out := ServiceSettings{AutoRollback: svc.AutoRollback, BackupTargets: svc.BackupTargets.WithDefaults()}
	if svc.RepoURL != "" {
		out.RepoURL = &svc.RepoURL
	}
	if svc.HealthTimeout > 0 {
		out.HealthTimeout = &svc.HealthTimeout
	}
	if svc.MinAge >= 0 {
		out.MinAge = &svc.MinAge
	}
	return out
}

// ServiceSettings reads what people have set for a service.
func (p *Projects) ServiceSettings(ctx context.Context, id string) (ServiceSettings, error) {
	svc, err := p.store.FindService(ctx, id)
	if err != nil {
		return ServiceSettings{}, err
	}
	return toServiceSettings(&svc), nil
}

// The most that a service may set, in seconds.
const (
	maxHealthTimeout = 3600
	maxMinAge        = 365 * 86400
)

// ServiceChange is a change of a service's settings. What is nil, or not Set, stays as it is.
type ServiceChange struct {
	AutoRollback  *bool
	BackupTargets *record.BackupTargets
	RepoURL       api.OptionalText
	// HealthTimeout and MinAge are in seconds; no value means the default.
	HealthTimeout, MinAge api.OptionalNumber
}

// checkBackupTargets returns an error if a choice for a mount is not valid.
func checkBackupTargets(b *record.BackupTargets) error {
	for field, choices := range map[string]map[string]record.BackupChoice{"backupTargets.bindPaths": b.BindPaths,
		"backupTargets.volumeNames": b.VolumeNames} {
		for name, choice := range choices {
			if !choice.IsValid() || name == "" {
				return record.InvalidField(field, "The choice for %q must be inherit, skip or force.", name)
			}
		}
	}
	return nil
}

// ChangeService stores what people set for a service.
func (p *Projects) ChangeService(ctx context.Context, id string, c ServiceChange) error {
	if _, err := p.store.FindService(ctx, id); err != nil {
		return err
	}
	columns := map[string]any{}
	if c.AutoRollback != nil {
		columns["auto_rollback"] = *c.AutoRollback
	}
	if c.BackupTargets != nil {
		if err := checkBackupTargets(c.BackupTargets); err != nil {
			return err
		}
		columns["backup_targets"] = record.EncodeColumn(c.BackupTargets.WithDefaults())
	}
	if n := c.HealthTimeout; n.Set {
		if n.Value != nil && (*n.Value < 1 || *n.Value > maxHealthTimeout) {
			return record.InvalidField("healthTimeoutSeconds", "The health timeout must be from 1 to %d seconds.", maxHealthTimeout)
		}
		columns["health_timeout"] = n.ValueOr(0)
	}
	if n := c.MinAge; n.Set {
		if n.Value != nil && (*n.Value < 0 || *n.Value > maxMinAge) {
			return record.InvalidField("minimumAgeSeconds", "The minimum age must be from 0 to %d seconds.", maxMinAge)
		}
		columns["min_age"] = n.ValueOr(-1)
	}
	if c.RepoURL.Set {
		text := strings.TrimSpace(c.RepoURL.Text)
		u, err := url.Parse(text)
		if text != "" && (err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" || len(text) > 1000) {
			return record.InvalidField("repoUrl", "The address of the repository must be an http or https URL without a user name.")
		}
		columns["repo_url"] = text
	}
	return p.store.UpdateService(ctx, id, columns, p.now())
}
