package compose

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/compose-spec/compose-go/v2/types"

	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// settings collects what a service is created with beyond the other members of Expected. The names and texts are those of
// engine.ImageConfig; a setting about which the files say nothing is not in it.
type settings struct{ engine.Settings }

func (s settings) setDuration(name string, d *types.Duration) {
	if d != nil {
		s.SetNumber(name, int64(*d))
	}
}

// listSettings returns the settings of a service.
func listSettings(project *types.Project, s *types.ServiceConfig) map[string]string {
	out := settings{engine.Settings{}}
	out.SetText("hostname", s.Hostname)
	out.SetText("domainname", s.DomainName)
	out.SetLines("dns", s.DNS)
	out.SetSorted("dns_opt", s.DNSOpts)
	out.SetLines("dns_search", s.DNSSearch)
	out.SetSorted("extra_hosts", s.ExtraHosts.AsList(":"))
	out.SetSorted("group_add", s.GroupAdd)
	out.SetSwitch("read_only", s.ReadOnly)
	out.SetSwitch("tty", s.Tty)
	out.SetSwitch("stdin_open", s.StdinOpen)
	out.SetSorted("security_opt", s.SecurityOpt)
	out.SetPairs("sysctls", "=", s.Sysctls)
	out.SetPairs("storage_opt", "=", s.StorageOpt)
	out.SetSorted("tmpfs", s.Tmpfs)
	out.SetText("uts", s.Uts)
	out.SetText("userns_mode", s.UserNSMode)
	out.SetText("cgroup", s.Cgroup)
	out.SetText("cgroup_parent", s.CgroupParent)
	out.SetText("runtime", s.Runtime)
	out.SetNumber("oom_score_adj", s.OomScoreAdj)
	out.SetSwitch("oom_kill_disable", s.OomKillDisable)
	out.SetNumber("shm_size", int64(s.ShmSize))
	out.SetNumber("mem_reservation", int64(s.MemReservation))
	out.SetNumber("memswap_limit", int64(s.MemSwapLimit))
	out.SetNumber("cpu_shares", s.CPUShares)
	out.SetText("cpuset", s.CPUSet)
	out.SetSorted("device_cgroup_rules", s.DeviceCgroupRules)
	out.SetText("stop_signal", s.StopSignal)
	out.setDuration("stop_grace_period", s.StopGracePeriod)
	if s.Init != nil {
		out.Settings["init"] = strconv.FormatBool(*s.Init)
	}
	if s.Logging != nil {
		out.SetText("logging", s.Logging.Driver)
		out.SetPairs("logging.options", "=", s.Logging.Options)
	}
	out.takeLimits(s)
	out.takeHealthCheck(s.HealthCheck)
	out.takeNetworks(project, s)
	return out.Settings
}

func (s settings) takeLimits(svc *types.ServiceConfig) {
	var devices, limits []string
	for _, d := range svc.Devices {
		devices = append(devices, strings.Join([]string{d.Source, d.Target, d.Permissions}, ":"))
	}
	s.SetSorted("devices", devices)
	for name, u := range svc.Ulimits {
		if u == nil {
			continue
		}
		soft, hard := u.Soft, u.Hard
		if u.Single != 0 {
			soft, hard = u.Single, u.Single
		}
		limits = append(limits, fmt.Sprintf("%s=%d:%d", name, soft, hard))
	}
	s.SetSorted("ulimits", limits)
}

func (s settings) takeHealthCheck(h *types.HealthCheckConfig) {
	if h == nil {
		return
	}
	if h.Disable {
		s.Settings["healthcheck.test"] = "NONE"
		return
	}
	s.SetLines("healthcheck.test", h.Test)
	s.setDuration("healthcheck.interval", h.Interval)
	s.setDuration("healthcheck.timeout", h.Timeout)
	s.setDuration("healthcheck.start_period", h.StartPeriod)
	s.setDuration("healthcheck.start_interval", h.StartInterval)
	if h.Retries != nil {
		s.SetNumber("healthcheck.retries", int64(*h.Retries))
	}
}

func (s settings) takeNetworks(project *types.Project, svc *types.ServiceConfig) {
	hardware := []string{}
	if svc.MacAddress != "" {
		hardware = append(hardware, svc.MacAddress)
	}
	var aliases, addresses []string
	for key, n := range svc.Networks {
		if n == nil {
			continue
		}
		name := key
		if named := project.Networks[key].Name; named != "" {
			name = named
		}
		for _, alias := range n.Aliases {
			aliases = append(aliases, name+" "+alias)
		}
		for _, address := range append([]string{n.Ipv4Address, n.Ipv6Address}, n.LinkLocalIPs...) {
			if address != "" {
				addresses = append(addresses, name+" "+address)
			}
		}
		if n.MacAddress != "" {
			hardware = append(hardware, n.MacAddress)
		}
	}
	s.SetSorted("networks.aliases", aliases)
	s.SetSorted("networks.addresses", addresses)
	s.SetSorted("mac_address", hardware)
}
