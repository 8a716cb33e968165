package deploycheck

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/services/containers/backup"
	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/image"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts"
)

func (r *Reports) checkEngine(ctx context.Context) ReportCheck {
	info, err := r.cfg.Engine().Info(ctx, "")
	if err != nil {
		return failCheck("The container engine does not answer.", "Nothing can be discovered, checked or updated.", failure.Text(err),
			"Mount the engine's socket into this container, or set host in the config of the engine's instance.")
	}
	return passCheck("The container engine answers.",
		fmt.Sprintf("version %s, API %s, %s/%s", info.Version, info.APIVersion, info.OS, info.Arch))
}

func (r *Reports) checkCompose(ctx context.Context) ReportCheck {
	bin := r.cfg.Settings().ComposeBin
	info, err := r.cfg.Engine().Info(ctx, bin)
	if err != nil {
		return failCheck("The compose command could not be tried.", "Services cannot be updated, started or stopped.", failure.Text(err),
			"Make the container engine answer first.")
	}
	if info.Compose == nil {
		return failCheck("The compose command does not run.", "Services cannot be updated, started or stopped.", bin+": "+info.ComposeError,
			"Install compose where the engine plugin runs, or set compose_bin (SVC_COMPOSE_BIN).")
	}
	return passCheck("The compose command runs.", bin+" "+info.Compose.Version)
}

func (r *Reports) checkFiles(ctx context.Context) ReportCheck {
	projects, err := r.cfg.Store.ListProjects(ctx)
	if err != nil {
		return failCheck("The projects could not be read.", "", "", "Look at the log of the core.")
	}
	var bad []string
	seen := 0
	for _, p := range projects {
		if p.ArchivedAt != 0 || p.Status == record.ProjectMissing {
			continue
		}
		seen++
		for _, f := range p.Files {
			if err := checkReadable(compose.Source{WorkingDir: p.WorkingDir, Files: []string{f}, Roots: r.cfg.ReadableRoots()}); err != nil {
				bad = append(bad, f)
			}
		}
		if p.Status == record.ProjectInvalid && len(p.Files) == 0 {
			bad = append(bad, p.Project+": "+p.LastError)
		}
	}
	switch {
	case len(bad) > 0:
		return failCheck("Some compose files cannot be read.", "Their projects are shown, and cannot be updated.", texts.JoinSome(bad, 5),
			"Mount the folders of the projects into this container, read-only, at the same absolute paths as on the host. Name folders besides the working directories in stack_roots.")
	case seen == 0:
		return skipCheck(naPrereq, "No compose project was found yet.")
	}
	return passCheck("All compose files can be read.", fmt.Sprintf("%d projects", seen))
}

// checkReadable returns an error unless the one file of src may be read, and can be.
func checkReadable(src compose.Source) error {
	if err := compose.CheckFiles(src); err != nil {
		return err
	}
	_, err := compose.ReadFile(src.Files[0])
	return err
}

func (r *Reports) checkImages(ctx context.Context) ReportCheck {
	services, err := r.cfg.Store.ListServices(ctx)
	if err != nil {
		return failCheck("The services could not be read.", "", "", "Look at the log of the core.")
	}
	var bad []string
	seen := 0
	for _, svc := range services {
		if svc.ArchivedAt != 0 {
			continue
		}
		seen++
		if _, err := image.Parse(svc.Image); err != nil && svc.Image != "" {
			bad = append(bad, svc.Name+": "+svc.Image)
		}
	}
	switch {
	case len(bad) > 0:
		return failCheck("Some services name images that cannot be read.", "They cannot be checked.", texts.JoinSome(bad, 5),
			"Correct the image in the compose file, or set the variable that it uses.")
	case seen == 0:
		return skipCheck(naPrereq, "No service was found yet.")
	}
	return passCheck("All services name an image.", fmt.Sprintf("%d services", seen))
}

func (r *Reports) checkBackupDir(ctx context.Context) ReportCheck {
	set, err := r.cfg.Backups(ctx)
	if err != nil || !set.Enabled {
		return skipCheck(naSwitch, "Backups are switched off.")
	}
	if err := backup.ProbeDir(set.BaseDir); err != nil {
		return failCheck("The directory of backups cannot be written.", "Updates of services with data stop before they change anything.",
			backup.Reason(err), "Choose another directory in the settings, or make it writable.")
	}
	return passCheck("The directory of backups can be written.", set.BaseDir)
}

// checkRegistries tells which registries are likely to want credentials that are not there: those whose services could not
// be checked.
func (r *Reports) checkRegistries(ctx context.Context) ReportCheck {
	services, err := r.cfg.Store.ListServices(ctx)
	if err != nil {
		return failCheck("The services could not be read.", "", "", "Look at the log of the core.")
	}
	var hosts, refused []string
	for _, svc := range services {
		if svc.ArchivedAt != 0 || svc.Repo == "" {
			continue
		}
		host := svc.ImageRef().Host
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
		if svc.CheckReason == failure.AccessDenied && !slices.Contains(refused, host) {
			refused = append(refused, host)
		}
	}
	if len(hosts) == 0 {
		return skipCheck(naPrereq, "No service was found yet.")
	}
	known, err := r.cfg.Registries.Credentials(ctx, hosts)
	evidence := fmt.Sprintf("%d registries, credentials for %s", len(hosts), cmp.Or(texts.JoinSome(known, 5), "none"))
	if err != nil {
		return failCheck("The credentials for registries cannot be read.", "Private images cannot be checked or pulled.", failure.Text(err),
			"Correct docker_config (SVC_DOCKER_CONFIG).")
	}
	if len(refused) > 0 {
		return failCheck("Some registries refuse to answer without other credentials.", "Their images are not checked.",
			texts.JoinSome(refused, 5)+"; "+evidence,
			"Sign in to them, and name the client configuration in docker_config (SVC_DOCKER_CONFIG).")
	}
	return passCheck("No registry refused to answer.", evidence)
}

// checkCooling tells which registries are left alone because they are rate limited.
func (r *Reports) checkCooling(ctx context.Context) ReportCheck {
	var resting []string
	for host, until := range r.cfg.Registries.CoolingHosts(ctx) {
		resting = append(resting, host+" until "+store.FormatTime(until))
	}
	if len(resting) == 0 {
		return skipCheck(naNone, "No registry is rate limited.")
	}
	slices.Sort(resting)
	return failCheck("Some registries are rate limited and are left alone for a while.", "Their images are not checked until then.",
		texts.JoinSome(resting, 5),
		"Sign in to them, check less often, or lower registry_cooldown_seconds once the limit is higher.")
}

func (r *Reports) checkBaseURL(ctx context.Context) ReportCheck {
	if url := r.cfg.PublicBaseURL(ctx); url != "" {
		return passCheck("Links in notifications can be clicked.", url)
	}
	c := skipCheck(naPrereq, "Links in notifications are paths.")
	c.Recommendation = "Set the public base URL in the settings."
	return c
}

// checkHooks is the part of the deploy check about package webhooks.
func (r *Reports) checkHooks(ctx context.Context) ReportCheck {
	const impact = "New images are seen by scheduled checks alone."
	setup, err := r.cfg.Webhooks.Setup(ctx)
	if err != nil {
		return failCheck("The settings of package webhooks cannot be read.", impact, "",
			"Set the access token again, or restore the key that it was sealed with.")
	}
	if !setup.Enabled {
		return skipCheck(naSwitch, "Package webhooks are switched off.")
	}
	if setup.Uncounted != nil {
		return failCheck("The tracked repositories could not be read.", impact, "", "Look at the log of the core.")
	}
	if len(setup.Lacks) > 0 {
		return failCheck("Package webhooks are on, and not complete.", impact, "missing: "+strings.Join(setup.Lacks, ", "),
			"Complete them in the settings.")
	}
	return passCheck("Package webhooks are complete.", fmt.Sprintf("%d repositories, %s", setup.Selected, setup.CallbackURL))
}

func (r *Reports) checkAllowlist(context.Context) ReportCheck {
	a := r.cfg.Access()
	if a.AllowedUser != "" || a.AllowedGroup != "" {
		return passCheck("A forwarded user or group is allowed.",
			"user "+cmp.Or(a.AllowedUser, "none")+", group "+cmp.Or(a.AllowedGroup, "none"))
	}
	if a.AnonymousInDev {
		return failCheck("Everybody who reaches this server may administer it.", "Anybody can run containers on this host.",
			"allow_anonymous_in_dev is true, and there is no allowlist",
			"Set allowed_user or allowed_group in the core block, or allow_anonymous_in_dev = false.")
	}
	return skipCheck(naNone, "No proxy signs people in: they use passkeys.")
}

func (r *Reports) checkProxies(context.Context) ReportCheck {
	a := r.cfg.Access()
	if a.AllowedUser == "" && a.AllowedGroup == "" {
		return skipCheck(naNone, "No proxy signs people in.")
	}
	if a.OpenLoopback {
		c := failCheck("Names are believed from this machine, and the listener is open to others.",
			"A proxy on this machine that passes on headers of its clients lets them name themselves.",
			"trusted_proxies has loopback, http_addr is open, proxy_secret is not set",
			"Set proxy_secret in the core block and have the proxy send it in X-Patchbay-Proxy-Secret, or have http_addr listen on 127.0.0.1.")
		c.Required = false
		return c
	}
	if slices.ContainsFunc(a.TrustedProxies, func(p string) bool { return p != "127.0.0.0/8" && p != "::1/128" }) {
		return passCheck("The proxies that may name people are declared.", strings.Join(a.TrustedProxies, ", "))
	}
	c := skipCheck(naPrereq, "Only proxies on this machine may name people.")
	c.Recommendation = "If the proxy runs in a container or on another machine, add its address to trusted_proxies in the core block."
	return c
}
