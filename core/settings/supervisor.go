package settings

import (
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"aead.dev/minisign"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Supervisor is the block supervisor of plugin.hcl, which the process "patchbay supervise" reads.
type Supervisor struct {
	HTTPAddr       string        `patchbay:"http_addr,default=0.0.0.0:50884,env=SVC_SUPERVISOR_HTTP_ADDR" doc:"Address of the supervisor."`
	BasePath       string        `patchbay:"base_path,default=/supervisor,env=SVC_SUPERVISOR_BASE_PATH" doc:"Path below which it is mounted."`
	Engine         string        `patchbay:"engine,default=,ref=engine" doc:"The container engine that runs the core, such as engine.local. Unset: the only engine of this file."`
	DockerHost     string        `patchbay:"docker_host,default=,env=SVC_SUPERVISOR_DOCKER_HOST" doc:"Address of the engine, such as unix:///var/run/docker.sock, where the engine's own block names none: its plugin gets it as DOCKER_HOST."`
	ComposeBin     string        `patchbay:"compose_bin,default=docker-compose,env=SVC_SUPERVISOR_COMPOSE_BIN" doc:"The compose command: a name, a path, or words such as \"docker compose\"."`
	DockerConfig   string        `patchbay:"docker_config,default=,env=SVC_DOCKER_CONFIG" doc:"Docker client configuration, the file or its directory: credentials for the registry, also for compose."`
	ImageRepo      string        `patchbay:"target_image_repo,default=ghcr.io/patchbay-dev/patchbay,env=SVC_SUPERVISOR_TARGET_IMAGE_REPO" doc:"Repository of the core's image."`
	ContainerID    string        `patchbay:"target_container_id,default=,env=SVC_SUPERVISOR_TARGET_CONTAINER_ID" doc:"Id or name of the core's container. Unset: the container that runs an image of the repository."`
	ComposeService string        `patchbay:"target_compose_service,default=patchbay,env=SVC_SUPERVISOR_TARGET_COMPOSE_SERVICE" doc:"The compose service that is the core, where several run an image of the repository."`
	StatePath      string        `patchbay:"state_path,default=data/supervisor/self-upgrade.json,env=SVC_SUPERVISOR_STATE_PATH" doc:"The state file. The override that names the core's image lies beside it."`
	CoreURL        string        `patchbay:"core_url,default=,env=SVC_SUPERVISOR_CORE_URL" doc:"URL of the core as the supervisor sees it, such as http://patchbay:50883. Unset: the published port of its container, or the name of its compose service."`
	VersionCommand string        `patchbay:"version_command,default=version,env=SVC_SUPERVISOR_VERSION_COMMAND" doc:"Arguments that make a new image print its version before it replaces the core. Empty: no check."`
	JobsTimeout    time.Duration `patchbay:"jobs_timeout,default=3m" doc:"How long an upgrade waits for running jobs of the core, 0s to 1h."`
	HealthTimeout  time.Duration `patchbay:"health_timeout,default=3m" doc:"Time for a new core to become ready, 1s to 1h."`

	Systemd *SupervisedUnit `patchbay:"systemd" doc:"The core is a unit of systemd instead of a container: the supervisor replaces its binaries by those of a release."`
}

// SupervisedUnit is the block systemd of the block supervisor.
type SupervisedUnit struct {
	Unit            string        `patchbay:"unit,default=patchbay.service" doc:"The unit that runs the core."`
	Dir             string        `patchbay:"dir,default=/opt/patchbay" doc:"The directory of the versions, a folder each. Its link current names the one that the unit starts."`
	URL             string        `patchbay:"url,required" doc:"URL of the folder of a version, such as https://example.com/download/{tag}/ with SHA256SUMS, SHA256SUMS.minisig and the archives; {tag} stands for the tag."`
	LatestURL       string        `patchbay:"latest_url,default=" doc:"The folder of the tag latest, where that is another. Unset: as for any tag."`
	PublicKey       string        `patchbay:"public_key,required" doc:"The minisign public key that signs SHA256SUMS: the line that begins with RW."`
	MaxBytes        int64         `patchbay:"max_bytes,default=536870912" doc:"The largest archive, packed and unpacked, in bytes; from 1048576 to 4294967296."`
	DownloadTimeout time.Duration `patchbay:"download_timeout,default=15m" doc:"Time for a download, 1s to 6h."`
}

// checkSupervisor finds what the types of the block supervisor cannot express.
func checkSupervisor(block *config.Block, s Supervisor) config.Diagnostics {
	found := diagnosticAt("http_addr", httpd.CheckAddr(s.HTTPAddr))
	if !strings.HasPrefix(s.BasePath, "/") || strings.Trim(s.BasePath, "/") == "" || strings.ContainsAny(s.BasePath, ":*?# ") {
		found = append(found, schema.Errorf(schema.At("base_path"), "must be a path such as /supervisor")...)
	}
	if s.CoreURL != "" && !isWebURL(s.CoreURL) {
		found = append(found, schema.Errorf(schema.At("core_url"), "must be an absolute http(s) URL, such as http://patchbay:50883")...)
	}
	if s.HealthTimeout < time.Second || s.HealthTimeout > time.Hour {
		found = append(found, schema.Errorf(schema.At("health_timeout"), "must be from 1s to 1h")...)
	}
	if s.JobsTimeout < 0 || s.JobsTimeout > time.Hour {
		found = append(found, schema.Errorf(schema.At("jobs_timeout"), "must be from 0s to 1h")...)
	}
	if s.Systemd != nil {
		found = append(found, checkUnit(*s.Systemd)...)
	}
	if filepath.Ext(s.StatePath) != ".json" {
		found = append(found, schema.Errorf(schema.At("state_path"), "must name a file that ends in .json")...)
	}
	return block.Locate(found)
}

// isWebURL reports whether text is an absolute http(s) URL.
func isWebURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && slices.Contains([]string{"http", "https"}, u.Scheme)
}

// unitName matches the names of services of systemd.
var unitName = regexp.MustCompile(`^[A-Za-z0-9:_.@\\][A-Za-z0-9:_.@\\-]{0,240}\.service$`)

// checkUnit finds what the types of the block systemd cannot express.
func checkUnit(s SupervisedUnit) (found schema.Diagnostics) {
	refuse := func(name, format string) {
		found = append(found, schema.Errorf(schema.At("systemd").Attr(name), "%s", format)...)
	}
	if !unitName.MatchString(s.Unit) {
		refuse("unit", "must be the name of a service of systemd, such as patchbay.service")
	}
	if !filepath.IsAbs(s.Dir) {
		refuse("dir", "must be an absolute path, such as /opt/patchbay")
	}
	if !isWebURL(s.URL) || !strings.Contains(s.URL, "{tag}") {
		refuse("url", "must be an absolute http(s) URL with {tag}, such as https://example.com/download/{tag}/")
	}
	if s.LatestURL != "" && !isWebURL(s.LatestURL) {
		refuse("latest_url", "must be an absolute http(s) URL")
	}
	var key minisign.PublicKey
	if err := key.UnmarshalText([]byte(strings.TrimSpace(s.PublicKey))); err != nil {
		refuse("public_key", "must be a minisign public key, such as minisign -G writes into minisign.pub")
	}
	if s.MaxBytes < 1<<20 || s.MaxBytes > 4<<30 {
		refuse("max_bytes", "must be from 1048576 to 4294967296")
	}
	if s.DownloadTimeout < time.Second || s.DownloadTimeout > 6*time.Hour {
		refuse("download_timeout", "must be from 1s to 6h")
	}
	return found
}
