package drift

import (
	"slices"
	"strconv"
	"strings"
)

// How a setting of the files is compared with that of a container.
const (
	// sameSetting: both say the same, or neither says anything.
	sameSetting = iota
	// IfGiven: the engine has a value of its own where the files say nothing.
	IfGiven
	// orImage: the image's value counts where the files say nothing.
	orImage
	// ifApplied: the first generation of compose leaves it out.
	ifApplied
	// AmongOthers: compose and the engine add lines of their own.
	AmongOthers
)

// comparedSetting is a setting by its name in compose, and the field of Drift that a difference has.
type comparedSetting struct {
	Name, Field string
	How         int
}

// ComparedSettings are all of them.
func ComparedSettings() []comparedSetting {
	return []comparedSetting{
		{"hostname", "hostname", sameSetting}, {"domainname", "domainname", sameSetting}, {"dns", "dns", sameSetting},
		{"dns_opt", "dnsOpt", sameSetting},
		{"dns_search", "dnsSearch", sameSetting}, {"extra_hosts", "extraHosts", sameSetting}, {"group_add", "groupAdd", sameSetting},
		{"read_only", "readOnly", sameSetting},
		{"tty", "tty", sameSetting}, {"stdin_open", "stdinOpen", sameSetting}, {"security_opt", "securityOpt", sameSetting},
		{"sysctls", "sysctls", sameSetting},
		{"storage_opt", "storageOpt", sameSetting}, {"tmpfs", "tmpfs", sameSetting}, {"uts", "uts", sameSetting},
		{"userns_mode", "usernsMode", sameSetting},
		{"cgroup", "cgroup", IfGiven}, {"cgroup_parent", "cgroupParent", sameSetting}, {"runtime", "runtime", IfGiven},
		{"oom_score_adj", "oomScoreAdj", sameSetting},
		{"oom_kill_disable", "oomKillDisable", sameSetting}, {"shm_size", "shmSize", sameSetting},
		{"mem_reservation", "memReservation", sameSetting}, {"memswap_limit", "memswapLimit", sameSetting},
		{"cpu_shares", "cpuShares", sameSetting}, {"cpuset", "cpuset", sameSetting}, {"device_cgroup_rules", "deviceCgroupRules", sameSetting},
		{"devices", "devices", sameSetting},
		{"ulimits", "ulimits", sameSetting}, {"init", "init", sameSetting}, {"logging", "logging", IfGiven},
		{"logging.options", "logging", AmongOthers},
		{"stop_signal", "stopSignal", orImage}, {"stop_grace_period", "stopGracePeriod", ifApplied},
		{"healthcheck.test", "healthcheck", orImage}, {"healthcheck.interval", "healthcheck", orImage},
		{"healthcheck.timeout", "healthcheck", orImage},
		{"healthcheck.start_period", "healthcheck", orImage}, {"healthcheck.start_interval", "healthcheck", orImage},
		{"healthcheck.retries", "healthcheck", orImage},
		{"networks.aliases", "networkAliases", AmongOthers}, {"networks.addresses", "networkAddresses", sameSetting},
		{"mac_address", "macAddress", AmongOthers},
	}
}

// compareSettings compares the settings that have no member of their own in ContainerConfig. An engine that tells none of them is not
// compared.
func (c *comparison) compareSettings() {
	running := c.running.Config.Settings
	if running == nil {
		return
	}
	for _, setting := range ComparedSettings() {
		wanted, now := normalizeSetting(setting.Name, c.expected.Settings[setting.Name]), normalizeSetting(setting.Name, running[setting.Name])
		if setting.Name == "memswap_limit" {
			wanted, now = dropUsualSwap(wanted, c.expected.Memory), dropUsualSwap(now, c.running.Config.MemoryBytes)
		}
		if setting.How == orImage && wanted == "" {
			if c.image == nil || isDisabledCheck(setting.Name, c.expected.Settings) {
				continue
			}
			wanted = normalizeSetting(setting.Name, c.image.Config.Settings[setting.Name])
		}
		switch {
		case wanted == now,
			wanted == "" && (setting.How == IfGiven || setting.How == AmongOthers),
			now == "" && setting.How == ifApplied,
			setting.How == AmongOthers && containsLines(now, wanted):
		case now == "":
			c.addDrift(setting.Field, "", Added)
		case wanted == "":
			c.addDrift(setting.Field, "", Removed)
		default:
			c.addDrift(setting.Field, "", Changed)
		}
	}
}

// usualShmSize is the size of /dev/shm where nobody says otherwise, in bytes.
const usualShmSize = "67108864"

// dropUsualSwap returns a limit of memory and swap, "" for the one that the engine sets by itself: twice the memory, or none.
func dropUsualSwap(limit string, memory int64) string {
	if limit == "-1" || memory > 0 && limit == strconv.FormatInt(2*memory, 10) {
		return ""
	}
	return limit
}

// isDisabledCheck reports whether a setting is one of a health check that the files switch off: its other members do not count then.
func isDisabledCheck(name string, wanted map[string]string) bool {
	return strings.HasPrefix(name, "healthcheck.") && wanted["healthcheck.test"] == "NONE"
}

// normalizeSetting writes a setting as the other side may write it, without what the engine adds by itself.
func normalizeSetting(name, value string) string {
	switch name {
	case "security_opt":
		var kept []string
		for line := range strings.Lines(value) {
			line = strings.TrimSuffix(strings.TrimRight(strings.Replace(line, ":", "=", 1), "\n"), "=true")
			// Compose reads the profile in, and the engine adds the label by itself.
			if line != "label=disable" && !strings.HasPrefix(line, "seccomp=") && line != "" {
				kept = append(kept, line)
			}
		}
		slices.Sort(kept)
		return strings.Join(kept, "\n")
	case "shm_size":
		if value == usualShmSize {
			return ""
		}
	case "mac_address":
		return strings.ToLower(strings.ReplaceAll(value, "-", ":"))
	}
	return value
}

// containsLines reports whether each line of some is one of all.
func containsLines(all, some string) bool {
	lines := strings.Split(all, "\n")
	for _, line := range strings.Split(some, "\n") {
		if !slices.Contains(lines, line) {
			return false
		}
	}
	return true
}
