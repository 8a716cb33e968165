package containers

import (
	"context"
	"net/url"
	"strings"
)

func (svc *serviceRecord) settings() ServiceSettings {
	out := ServiceSettings{AutoRollback: svc.AutoRollback, BackupTargets: svc.BackupTargets.full()}
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
func (s *Service) ServiceSettings(ctx context.Context, id string) (ServiceSettings, error) {
	svc, err := s.repo.service(ctx, id)
	if err != nil {
		return ServiceSettings{}, err
	}
	return svc.settings(), nil
}

// The most that a service may set, in seconds.
const (
	maxHealthTimeout = 3600
	maxMinAge        = 365 * 86400
)

// ServiceChange is a change of a service's settings.
type ServiceChange struct {
	AutoRollback  bool
	BackupTargets backupTargets
	// RepoURL is left alone unless SetRepoURL.
	RepoURL    string
	SetRepoURL bool
	// HealthTimeout and MinAge are in seconds; nil means the default.
	HealthTimeout, MinAge *int64
}

// ChangeService stores what people set for a service.
func (s *Service) ChangeService(ctx context.Context, id string, c ServiceChange) error {
	if _, err := s.repo.service(ctx, id); err != nil {
		return err
	}
	for field, choices := range map[string]map[string]BackupChoice{"backupTargets.bindPaths": c.BackupTargets.BindPaths, "backupTargets.volumeNames": c.BackupTargets.VolumeNames} {
		for name, choice := range choices {
			if !choice.valid() || name == "" {
				return invalid(field, "The choice for %q must be inherit, skip or force.", name)
			}
		}
	}
	columns := map[string]any{"auto_rollback": c.AutoRollback, "backup_targets": toJSON(c.BackupTargets.full()), "health_timeout": int64(0), "min_age": int64(-1)}
	if c.HealthTimeout != nil {
		if *c.HealthTimeout < 1 || *c.HealthTimeout > maxHealthTimeout {
			return invalid("healthTimeoutSeconds", "The health timeout must be from 1 to %d seconds.", maxHealthTimeout)
		}
		columns["health_timeout"] = *c.HealthTimeout
	}
	if c.MinAge != nil {
		if *c.MinAge < 0 || *c.MinAge > maxMinAge {
			return invalid("minimumAgeSeconds", "The minimum age must be from 0 to %d seconds.", maxMinAge)
		}
		columns["min_age"] = *c.MinAge
	}
	if c.SetRepoURL {
		u, err := url.Parse(c.RepoURL)
		if c.RepoURL != "" && (err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" || len(c.RepoURL) > 1000) {
			return invalid("repoUrl", "The address of the repository must be an http or https URL without a user name.")
		}
		columns["repo_url"] = strings.TrimSpace(c.RepoURL)
	}
	return s.repo.updateService(ctx, id, columns, s.now())
}
