package containers

import (
	"cmp"
	"path/filepath"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/services/containers/candidate"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/health"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Settings is the block service "containers" of plugin.hcl.
type Settings struct {
	BaseURL        string        `patchbay:"base_url,default=/" doc:"Path, or absolute URL, below which the service is mounted."`
	Engine         string        `patchbay:"engine,required,ref=engine" doc:"The container engine, such as engine.local."`
	Registries     []string      `patchbay:"registries,required,ref=registry" doc:"The registry readers, such as [registry.default]; the first that serves an image's host answers. One may stand without brackets."`
	CodeHost       string        `patchbay:"codehost,default=,ref=codehost" doc:"The code host whose package webhooks start checks, such as codehost.main."`
	CodeHostAlias  string        `patchbay:"code_host,default=,ref=codehost" doc:"Another spelling of codehost."`
	PackageHosts   []string      `patchbay:"package_hosts,default=ghcr.io" doc:"Registry hosts whose images the code host's package webhooks are about."`
	Notify         []string      `patchbay:"notify,ref=notify" doc:"The channels of notifications, such as [notify.chat, notify.mail]. The first that fits plays chat, email, webhook and webPush, which are set in the console; others have their recipient in their own block."`
	Locale         string        `patchbay:"locale,default=zh,enum=zh|en" doc:"The language of the texts in notifications."`
	ComposeBin     string        `patchbay:"compose_bin,default=docker-compose,env=SVC_COMPOSE_BIN" doc:"The compose command: a name, a path, or words such as \"docker compose\"."`
	StackRoots     []string      `patchbay:"stack_roots" doc:"Folders to read compose files and their env files from, besides the working directories that containers name, such as [/srv/stacks]."`
	DockerConfig   string        `patchbay:"docker_config,default=,env=SVC_DOCKER_CONFIG" doc:"Docker client configuration, the file or its directory: credentials for registries, also for compose."`
	SelfUpgradeURL string        `patchbay:"self_upgrade_url,default=/supervisor/,env=SVC_SELF_UPGRADE_URL" doc:"Link on the page for the upgrade of Patchbay itself."`
	ImageRepo      string        `patchbay:"image_repo,default=ghcr.io/patchbay-dev/patchbay,env=SVC_IMAGE_REPO" doc:"Repository of Patchbay's image; the supervisor updates that service."`
	StatePath      string        `patchbay:"supervisor_state_path,default=,env=SVC_SUPERVISOR_STATE_PATH" doc:"The supervisor's state file; its override lies beside it."`
	WebhookSecret  schema.Secret `patchbay:"webhook_secret,default=,env=SVC_WEBHOOK_SECRET" doc:"Shared secret of POST /api/webhooks/trigger. Unset: the endpoint refuses everything."`
	HostPlatform   string        `patchbay:"host_platform,default=,env=SVC_HOST_PLATFORM" doc:"Platform that images are compared with, such as linux/arm64. Unset: the engine's."`
	Discovery      int64         `patchbay:"discovery_interval_seconds,default=60,env=SVC_DISCOVERY_INTERVAL_SECONDS" doc:"Pause between two automatic discoveries, in seconds, at least 10."`
	MaxActions     int64         `patchbay:"discovery_max_actions,default=200,env=SVC_DISCOVERY_MAX_ACTIONS" doc:"The most actions that the result of a discovery lists."`
	DeployTimeout  int64         `patchbay:"deploy_check_timeout_seconds,default=12,env=SVC_DEPLOY_CHECK_LOCAL_COMMAND_TIMEOUT_SECONDS" doc:"Longest time for each probe of the deploy check, in seconds."`
	Parallel       int64         `patchbay:"check_parallel,default=8" doc:"Services checked at the same time, 1 to 64."`
	PerHost        int64         `patchbay:"registry_parallel,default=5" doc:"Requests to one registry host at the same time, 1 to 64."`
	RetryAttempts  int64         `patchbay:"registry_retry_max_attempts,default=3,env=SVC_REGISTRY_RETRY_MAX_ATTEMPTS" doc:"Attempts for a request to a registry that is rate limited or unanswered; 0 counts as 1."`
	RetryBaseMS    int64         `patchbay:"registry_retry_base_ms,default=250,env=SVC_REGISTRY_RETRY_BASE_MS" doc:"The first pause before another attempt, in milliseconds; it doubles."`
	RetryMaxMS     int64         `patchbay:"registry_retry_max_ms,default=2000,env=SVC_REGISTRY_RETRY_MAX_MS" doc:"The longest such pause, in milliseconds; at least the first."`
	Cooldown       int64         `patchbay:"registry_cooldown_seconds,default=21600,env=SVC_REGISTRY_RATE_LIMIT_COOLDOWN_SECONDS" doc:"Pause for a registry that keeps rate limiting, in seconds."`
	UpdateRetries  int64         `patchbay:"update_retry_max_attempts,default=3,env=SVC_UPDATE_IDEMPOTENT_RETRY_MAX_ATTEMPTS" doc:"Attempts for a step of an update that is safe to repeat."`
	UpdateBaseMS   int64         `patchbay:"update_retry_base_ms,default=300,env=SVC_UPDATE_IDEMPOTENT_RETRY_BASE_MS" doc:"The first pause before it is tried again, in milliseconds; it doubles."`
	UpdateMaxMS    int64         `patchbay:"update_retry_max_ms,default=3000,env=SVC_UPDATE_IDEMPOTENT_RETRY_MAX_MS" doc:"The longest such pause, in milliseconds; at least the first."`
	HealthTimeout  time.Duration `patchbay:"health_timeout,default=90s" doc:"Time for a new container to become healthy after its start period; a label can override it."`
	SettleTime     time.Duration `patchbay:"settle_time,default=10s" doc:"Time without a restart after which a container without a health check counts as healthy."`
	MinAge         time.Duration `patchbay:"minimum_age,default=0s" doc:"Age of a new version before updates apply it; a label can override it."`
}

// Check finds what the types of the settings cannot express.
func (s Settings) Check() schema.Diagnostics {
	var out schema.Diagnostics
	for _, c := range []struct {
		name      string
		v, lo, hi int64
	}{
		{"discovery_interval_seconds", s.Discovery, 10, 86400}, {"discovery_max_actions", s.MaxActions, 1, 100000},
		{"check_parallel", s.Parallel, 1, 64}, {"registry_parallel", s.PerHost, 1, 64},
		{"registry_retry_max_attempts", s.RetryAttempts, 0, 20}, {"registry_retry_base_ms", s.RetryBaseMS, 1, 600000},
		{"registry_retry_max_ms", s.RetryMaxMS, 1, 600000}, {"registry_cooldown_seconds", s.Cooldown, 0, 7 * 86400},
		{"update_retry_max_attempts", s.UpdateRetries, 1, 20}, {"update_retry_base_ms", s.UpdateBaseMS, 1, 600000},
		{"update_retry_max_ms", s.UpdateMaxMS, 1, 600000},
		{"health_timeout", int64(s.HealthTimeout / time.Millisecond), 100, 3600_000},
		{"settle_time", int64(s.SettleTime / time.Millisecond), 100, 600_000},
		{"minimum_age", int64(s.MinAge / time.Millisecond), 0, 365 * 86400_000},
	} {
		if c.v < c.lo || c.v > c.hi {
			out = append(out, schema.Errorf(schema.At(c.name), "must be from %d to %d", c.lo, c.hi)...)
		}
	}
	for i, root := range s.StackRoots {
		if !filepath.IsAbs(root) || compose.IsSystemPath(root) {
			out = append(out, schema.Errorf(schema.At("stack_roots").Index(i),
				"must be the absolute path of a folder outside of the directories of the system")...)
		}
	}
	if s.CodeHost != "" && s.CodeHostAlias != "" {
		out = append(out, schema.Errorf(schema.At("code_host"), "is another spelling of codehost, which is set as well: keep codehost")...)
	}
	if len(s.Registries) == 0 {
		out = append(out, schema.Errorf(schema.At("registries"), "must name at least one instance")...)
	}
	if strings.TrimSpace(s.ComposeBin) == "" {
		out = append(out, schema.Errorf(schema.At("compose_bin"), "must not be empty")...)
	}
	if _, err := record.ParsePlatform(s.HostPlatform); s.HostPlatform != "" && err != nil {
		out = append(out, schema.Errorf(schema.At("host_platform"), "%v", err)...)
	}
	return out
}

// hostSettings returns those that are about the engine and compose.
func (s Settings) hostSettings() host.Settings {
	return host.Settings{
		ComposeBin: s.ComposeBin, DockerConfig: s.DockerConfig, StackRoots: s.StackRoots, StatePath: s.StatePath,
		UpdateRetries: s.UpdateRetries, UpdateBaseMS: s.UpdateBaseMS, UpdateMaxMS: s.UpdateMaxMS,
	}
}

// projectSettings returns those that are about projects.
func (s Settings) projectSettings() project.Settings {
	return project.Settings{ImageRepo: s.ImageRepo, MinAge: s.MinAge, Discovery: s.Discovery, MaxActions: s.MaxActions}
}

// registrySettings returns those that are about registries and checks.
func (s Settings) registrySettings() candidate.RegistrySettings {
	return candidate.RegistrySettings{
		DockerConfig: s.DockerConfig, HostPlatform: s.HostPlatform, Parallel: s.Parallel, PerHost: s.PerHost,
		RetryAttempts: s.RetryAttempts, RetryBaseMS: s.RetryBaseMS, RetryMaxMS: s.RetryMaxMS, Cooldown: s.Cooldown,
	}
}

// changeSettings returns those that are about changes.
func (s Settings) changeSettings() change.Settings {
	return change.Settings{ComposeBin: s.ComposeBin, DockerConfig: s.DockerConfig, Health: health.Settings{Timeout: s.HealthTimeout, SettleTime: s.SettleTime}}
}

// CodeHostRef returns the code host in either spelling, "" for none.
func (s Settings) CodeHostRef() string { return cmp.Or(s.CodeHost, s.CodeHostAlias) }

// AccessInfo tells how people are let in. Names are masked.
type AccessInfo struct {
	UserHeader, GroupHeader   string
	AllowedUser, AllowedGroup string
	// AnonymousInDev lets callers without an identity in while there is no allowlist.
	AnonymousInDev bool
	// TrustedProxies is whether any address but this machine's may name people.
	TrustedProxies []string
	// OpenLoopback tells that names are believed from this machine without a secret although others reach the listener.
	OpenLoopback bool
}

// describeMode returns how people sign in, in words.
func (a AccessInfo) describeMode() string {
	switch {
	case a.AllowedUser != "" && a.AllowedGroup != "":
		return "user_or_group"
	case a.AllowedUser != "":
		return "user"
	case a.AllowedGroup != "":
		return "group"
	case a.AnonymousInDev:
		return "anonymous_dev"
	}
	return "none"
}

// maskName shows the first letter of a name.
func maskName(name string) string {
	for _, r := range name {
		return string(r) + "***"
	}
	return ""
}
