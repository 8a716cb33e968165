package search

import (
	"time"

	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/alert"
	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Settings is the block service "search" of plugin.hcl.
type Settings struct {
	BaseURL      string          `patchbay:"base_url,default=/search" doc:"Path, or absolute URL, below which the service is mounted."`
	Backend      []string        `patchbay:"backend,required,ref=search" doc:"The search instances that answer, such as [search.main, search.fallback]: the next is tried when one is down or out of keys. One may stand without brackets."`
	NoAudit      bool            `patchbay:"no_audit,default=false" doc:"Keep no audit rows; counters start at 0 after a restart. For measurements only."`
	LogBodies    bool            `patchbay:"log_bodies,default=false" doc:"Keep request and response bodies in the audit, up to 256 KiB of each. Tokens and keys are never part of them."`
	Retention    time.Duration   `patchbay:"retention,default=768h" doc:"How long to keep audit rows."`
	DevOpenAdmin bool            `patchbay:"dev_open_admin,default=false,env=DEV_OPEN_ADMIN" doc:"Accept calls without a token and count them on a built-in one. For development only."`
	Notify       []string        `patchbay:"notify,ref=notify" doc:"Channels for the alerts of the service, such as [notify.ops]."`
	CacheTTL     time.Duration   `patchbay:"cache_ttl,default=0s" doc:"How long a cached answer serves tokens without another cache policy; 0 for never."`
	NextOn5xx    bool            `patchbay:"next_on_5xx,default=false" doc:"Try the next backend when the upstream answers 5xx, except for research. Credits that the upstream charged for that answer count as well."`
	Limits       *LimitSet       `patchbay:"limits" doc:"Default limits of a token."`
	Alerts       *alert.Settings `patchbay:"alerts" doc:"When an alert is sent."`
}

// LimitSet is the limits block: the defaults for tokens.
type LimitSet struct {
	RequestsHour   int64 `patchbay:"requests_hour,default=500" doc:"Requests in a rolling hour."`
	CreditsHour    int64 `patchbay:"credits_hour,default=1000" doc:"Credits in a rolling hour."`
	CreditsDay     int64 `patchbay:"credits_day,default=5000" doc:"Credits in a UTC day."`
	CreditsMonth   int64 `patchbay:"credits_month,default=50000" doc:"Credits in a UTC month."`
	RequestsMinute int64 `patchbay:"requests_minute,default=0" doc:"Requests in a rolling minute; 0 for no such limit."`
}

func (s Settings) defaultLimits() access.Limits {
	if s.Limits == nil {
		return access.DefaultLimits()
	}
	return access.Limits(*s.Limits)
}

// Warnings returns the ids of texts about settings that are not for production.
func (s Settings) Warnings() []string {
	if s.DevOpenAdmin {
		return []string{"search.warning.open"}
	}
	return nil
}

// Check finds what the types of the settings cannot express.
func (s Settings) Check() schema.Diagnostics {
	var out schema.Diagnostics
	if s.Retention < time.Hour {
		out = append(out, schema.Errorf(schema.At("retention"), "must be at least 1h")...)
	}
	if len(s.Backend) == 0 {
		out = append(out, schema.Errorf(schema.At("backend"), "must name at least one instance")...)
	}
	if s.CacheTTL < 0 || s.CacheTTL > proxy.MaxCacheTTL {
		out = append(out, schema.Errorf(schema.At("cache_ttl"), "must be from 0s to 720h")...)
	}
	l := s.defaultLimits()
	for name, v := range map[string]int64{"requests_hour": l.RequestsHour, "credits_hour": l.CreditsHour, "credits_day": l.CreditsDay,
		"credits_month": l.CreditsMonth, "requests_minute": l.RequestsMinute} {
		if v < 0 {
			out = append(out, schema.Errorf(schema.At("limits").Attr(name), "must not be negative")...)
		}
	}
	return append(out, s.alertSettings().Check()...)
}

// alertSettings returns when alerts are sent.
func (s Settings) alertSettings() alert.Settings {
	if s.Alerts == nil {
		return alert.DefaultAlertSettings()
	}
	return *s.Alerts
}

// proxySettings returns the settings of the proxy.
func (s Settings) proxySettings() proxy.Settings {
	return proxy.Settings{CacheTTL: s.CacheTTL, NextOn5xx: s.NextOn5xx, LogBodies: s.LogBodies, ErrorWindow: s.alertSettings().ErrorWindow}
}
