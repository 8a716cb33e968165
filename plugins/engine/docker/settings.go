package docker

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/docker/docker/api/types/container"

	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// settings collects further settings of a container or an image. Empty ones are left out.
type settings struct{ engine.Settings }

// defaultShmSize is the size of /dev/shm where nobody says otherwise.
const defaultShmSize = 64 << 20

// imageSettings returns what a container gets from its image, as far as it is no part of engine.ImageConfig by itself.
func imageSettings(check *container.HealthConfig, stopSignal string, ports []string) map[string]string {
	out := settings{engine.Settings{}}
	out.SetText("stop_signal", stopSignal)
	out.SetSorted("expose", ports)
	if check != nil {
		out.SetLines("healthcheck.test", check.Test)
		out.SetNumber("healthcheck.interval", int64(check.Interval))
		out.SetNumber("healthcheck.timeout", int64(check.Timeout))
		out.SetNumber("healthcheck.start_period", int64(check.StartPeriod))
		out.SetNumber("healthcheck.start_interval", int64(check.StartInterval))
		out.SetNumber("healthcheck.retries", int64(check.Retries))
	}
	return out.Settings
}

// containerSettings returns what a container was created with, as far as it is no part of engine.ContainerConfig by itself.
func containerSettings(c *container.InspectResponse) map[string]string {
	cfg, host := c.Config, c.HostConfig
	var ports []string
	for port := range cfg.ExposedPorts {
		ports = append(ports, string(port))
	}
	out := settings{imageSettings(cfg.Healthcheck, cfg.StopSignal, ports)}
	if !strings.HasPrefix(c.ID, cfg.Hostname) && !host.NetworkMode.IsHost() && !host.NetworkMode.IsContainer() && !host.UTSMode.IsHost() {
		out.SetText("hostname", cfg.Hostname)
	}
	out.SetText("domainname", cfg.Domainname)
	if cfg.StopTimeout != nil {
		out.Settings["stop_grace_period"] = strconv.FormatInt(int64(*cfg.StopTimeout)*1e9, 10)
	}
	out.SetSwitch("tty", cfg.Tty)
	out.SetSwitch("stdin_open", cfg.OpenStdin)
	out.SetLines("dns", host.DNS)
	out.SetSorted("dns_opt", host.DNSOptions)
	out.SetLines("dns_search", host.DNSSearch)
	out.SetSorted("extra_hosts", host.ExtraHosts)
	out.SetSorted("group_add", host.GroupAdd)
	out.SetSwitch("read_only", host.ReadonlyRootfs)
	out.SetSorted("security_opt", host.SecurityOpt)
	out.SetPairs("sysctls", "=", host.Sysctls)
	out.SetText("logging", host.LogConfig.Type)
	out.SetPairs("logging.options", "=", host.LogConfig.Config)
	if host.ShmSize != defaultShmSize {
		out.SetNumber("shm_size", host.ShmSize)
	}
	out.SetPairs("tmpfs", ":", host.Tmpfs)
	if host.Init != nil {
		out.Settings["init"] = strconv.FormatBool(*host.Init)
	}
	out.SetText("uts", string(host.UTSMode))
	out.SetText("userns_mode", string(host.UsernsMode))
	out.SetText("cgroup", string(host.CgroupnsMode))
	out.SetText("runtime", host.Runtime)
	out.SetNumber("oom_score_adj", int64(host.OomScoreAdj))
	out.SetPairs("storage_opt", "=", host.StorageOpt)
	out.setResources(&host.Resources)
	out.setNetworks(c)
	return out.Settings
}

func (s settings) setResources(r *container.Resources) {
	var devices, limits []string
	for _, d := range r.Devices {
		devices = append(devices, strings.Join([]string{d.PathOnHost, d.PathInContainer, d.CgroupPermissions}, ":"))
	}
	s.SetSorted("devices", devices)
	for _, u := range r.Ulimits {
		if u != nil {
			limits = append(limits, fmt.Sprintf("%s=%d:%d", u.Name, u.Soft, u.Hard))
		}
	}
	s.SetSorted("ulimits", limits)
	s.SetSorted("device_cgroup_rules", r.DeviceCgroupRules)
	s.SetText("cgroup_parent", r.CgroupParent)
	s.SetSwitch("oom_kill_disable", r.OomKillDisable != nil && *r.OomKillDisable)
	s.SetNumber("mem_reservation", r.MemoryReservation)
	s.SetNumber("memswap_limit", r.MemorySwap)
	s.SetNumber("cpu_shares", r.CPUShares)
	s.SetText("cpuset", r.CpusetCpus)
}

// setNetworks sets what the container has in its networks, each line with the network's name before it.
func (s settings) setNetworks(c *container.InspectResponse) {
	var aliases, addresses, hardware []string
	if c.NetworkSettings != nil {
		for _, name := range slices.Sorted(maps.Keys(c.NetworkSettings.Networks)) {
			end := c.NetworkSettings.Networks[name]
			if end == nil {
				continue
			}
			for _, alias := range end.Aliases {
				aliases = append(aliases, name+" "+alias)
			}
			if end.MacAddress != "" {
				hardware = append(hardware, end.MacAddress)
			}
			if end.IPAMConfig != nil {
				for _, address := range append([]string{end.IPAMConfig.IPv4Address, end.IPAMConfig.IPv6Address}, end.IPAMConfig.LinkLocalIPs...) {
					if address != "" {
						addresses = append(addresses, name+" "+address)
					}
				}
			}
		}
	}
	s.SetSorted("networks.aliases", aliases)
	s.SetSorted("networks.addresses", addresses)
	s.SetSorted("mac_address", hardware)
}
