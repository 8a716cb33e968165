package docker

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/docker/docker/api/types/container"
)

// settings collects further settings of a container or an image. Empty ones are left out.
type settings map[string]string

func (s settings) setText(name, value string) {
	if value != "" {
		s[name] = value
	}
}

func (s settings) setNumber(name string, value int64) {
	if value != 0 {
		s[name] = strconv.FormatInt(value, 10)
	}
}

func (s settings) setSwitch(name string, on bool) {
	if on {
		s[name] = "true"
	}
}

// setLines sets a list in its order.
func (s settings) setLines(name string, list []string) { s.setText(name, strings.Join(list, "\n")) }

// setSorted sets a list whose order does not count.
func (s settings) setSorted(name string, list []string) {
	list = slices.Clone(list)
	slices.Sort(list)
	s.setLines(name, slices.Compact(list))
}

// setPairs sets a map as lines of a name, a separator and a value.
func (s settings) setPairs(name, separator string, pairs map[string]string) {
	var lines []string
	for key, value := range pairs {
		lines = append(lines, strings.TrimSuffix(key+separator+value, separator))
	}
	s.setSorted(name, lines)
}

// defaultShmSize is the size of /dev/shm where nobody says otherwise.
const defaultShmSize = 64 << 20

// imageSettings returns what a container gets from its image, as far as it is no part of engine.ImageConfig by itself.
func imageSettings(check *container.HealthConfig, stopSignal string, ports []string) map[string]string {
	out := settings{}
	out.setText("stop_signal", stopSignal)
	out.setSorted("expose", ports)
	if check != nil {
		out.setLines("healthcheck.test", check.Test)
		out.setNumber("healthcheck.interval", int64(check.Interval))
		out.setNumber("healthcheck.timeout", int64(check.Timeout))
		out.setNumber("healthcheck.start_period", int64(check.StartPeriod))
		out.setNumber("healthcheck.start_interval", int64(check.StartInterval))
		out.setNumber("healthcheck.retries", int64(check.Retries))
	}
	return out
}

// containerSettings returns what a container was created with, as far as it is no part of engine.ContainerConfig by itself.
func containerSettings(c *container.InspectResponse) map[string]string {
	cfg, host := c.Config, c.HostConfig
	var ports []string
	for port := range cfg.ExposedPorts {
		ports = append(ports, string(port))
	}
	out := settings(imageSettings(cfg.Healthcheck, cfg.StopSignal, ports))
	if !strings.HasPrefix(c.ID, cfg.Hostname) && !host.NetworkMode.IsHost() && !host.NetworkMode.IsContainer() && !host.UTSMode.IsHost() {
		out.setText("hostname", cfg.Hostname)
	}
	out.setText("domainname", cfg.Domainname)
	if cfg.StopTimeout != nil {
		out["stop_grace_period"] = strconv.FormatInt(int64(*cfg.StopTimeout)*1e9, 10)
	}
	out.setSwitch("tty", cfg.Tty)
	out.setSwitch("stdin_open", cfg.OpenStdin)
	out.setLines("dns", host.DNS)
	out.setSorted("dns_opt", host.DNSOptions)
	out.setLines("dns_search", host.DNSSearch)
	out.setSorted("extra_hosts", host.ExtraHosts)
	out.setSorted("group_add", host.GroupAdd)
	out.setSwitch("read_only", host.ReadonlyRootfs)
	out.setSorted("security_opt", host.SecurityOpt)
	out.setPairs("sysctls", "=", host.Sysctls)
	out.setText("logging", host.LogConfig.Type)
	out.setPairs("logging.options", "=", host.LogConfig.Config)
	if host.ShmSize != defaultShmSize {
		out.setNumber("shm_size", host.ShmSize)
	}
	out.setPairs("tmpfs", ":", host.Tmpfs)
	if host.Init != nil {
		out["init"] = strconv.FormatBool(*host.Init)
	}
	out.setText("uts", string(host.UTSMode))
	out.setText("userns_mode", string(host.UsernsMode))
	out.setText("cgroup", string(host.CgroupnsMode))
	out.setText("runtime", host.Runtime)
	out.setNumber("oom_score_adj", int64(host.OomScoreAdj))
	out.setPairs("storage_opt", "=", host.StorageOpt)
	out.setResources(&host.Resources)
	out.setNetworks(c)
	return out
}

func (s settings) setResources(r *container.Resources) {
	var devices, limits []string
	for _, d := range r.Devices {
		devices = append(devices, strings.Join([]string{d.PathOnHost, d.PathInContainer, d.CgroupPermissions}, ":"))
	}
	s.setSorted("devices", devices)
	for _, u := range r.Ulimits {
		if u != nil {
			limits = append(limits, fmt.Sprintf("%s=%d:%d", u.Name, u.Soft, u.Hard))
		}
	}
	s.setSorted("ulimits", limits)
	s.setSorted("device_cgroup_rules", r.DeviceCgroupRules)
	s.setText("cgroup_parent", r.CgroupParent)
	s.setSwitch("oom_kill_disable", r.OomKillDisable != nil && *r.OomKillDisable)
	s.setNumber("mem_reservation", r.MemoryReservation)
	s.setNumber("memswap_limit", r.MemorySwap)
	s.setNumber("cpu_shares", r.CPUShares)
	s.setText("cpuset", r.CpusetCpus)
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
	s.setSorted("networks.aliases", aliases)
	s.setSorted("networks.addresses", addresses)
	s.setSorted("mac_address", hardware)
}
