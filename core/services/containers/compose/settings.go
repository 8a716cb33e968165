package compose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/compose-spec/compose-go/v2/types"
)

// settings collects what a service is created with beyond the other members of Expected. The names and texts are those of engine.ImageConfig; a
// setting about which the files say nothing is not in it.
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

func (s settings) setDuration(name string, d *types.Duration) {
	if d != nil {
		s.setNumber(name, int64(*d))
	}
}

func (s settings) setLines(name string, list []string) { s.setText(name, strings.Join(list, "\n")) }

func (s settings) setSorted(name string, list []string) {
	list = slices.Clone(list)
	slices.Sort(list)
	s.setLines(name, slices.Compact(list))
}

func (s settings) setPairs(name string, pairs map[string]string) {
	var lines []string
	for key, value := range pairs {
		lines = append(lines, key+"="+value)
	}
	s.setSorted(name, lines)
}

// settingsOf returns the settings of a service.
func settingsOf(project *types.Project, s *types.ServiceConfig) map[string]string {
	out := settings{}
	out.setText("hostname", s.Hostname)
	out.setText("domainname", s.DomainName)
	out.setLines("dns", s.DNS)
	out.setSorted("dns_opt", s.DNSOpts)
	out.setLines("dns_search", s.DNSSearch)
	out.setSorted("extra_hosts", s.ExtraHosts.AsList(":"))
	out.setSorted("group_add", s.GroupAdd)
	out.setSwitch("read_only", s.ReadOnly)
	out.setSwitch("tty", s.Tty)
	out.setSwitch("stdin_open", s.StdinOpen)
	out.setSorted("security_opt", s.SecurityOpt)
	out.setPairs("sysctls", s.Sysctls)
	out.setPairs("storage_opt", s.StorageOpt)
	out.setSorted("tmpfs", s.Tmpfs)
	out.setText("uts", s.Uts)
	out.setText("userns_mode", s.UserNSMode)
	out.setText("cgroup", s.Cgroup)
	out.setText("cgroup_parent", s.CgroupParent)
	out.setText("runtime", s.Runtime)
	out.setNumber("oom_score_adj", s.OomScoreAdj)
	out.setSwitch("oom_kill_disable", s.OomKillDisable)
	out.setNumber("shm_size", int64(s.ShmSize))
	out.setNumber("mem_reservation", int64(s.MemReservation))
	out.setNumber("memswap_limit", int64(s.MemSwapLimit))
	out.setNumber("cpu_shares", s.CPUShares)
	out.setText("cpuset", s.CPUSet)
	out.setSorted("device_cgroup_rules", s.DeviceCgroupRules)
	out.setText("stop_signal", s.StopSignal)
	out.setDuration("stop_grace_period", s.StopGracePeriod)
	if s.Init != nil {
		out["init"] = strconv.FormatBool(*s.Init)
	}
	if s.Logging != nil {
		out.setText("logging", s.Logging.Driver)
		out.setPairs("logging.options", s.Logging.Options)
	}
	out.takeLimits(s)
	out.takeHealthCheck(s.HealthCheck)
	out.takeNetworks(project, s)
	return out
}

func (s settings) takeLimits(svc *types.ServiceConfig) {
	var devices, limits []string
	for _, d := range svc.Devices {
		devices = append(devices, strings.Join([]string{d.Source, d.Target, d.Permissions}, ":"))
	}
	s.setSorted("devices", devices)
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
	s.setSorted("ulimits", limits)
}

func (s settings) takeHealthCheck(h *types.HealthCheckConfig) {
	if h == nil {
		return
	}
	if h.Disable {
		s["healthcheck.test"] = "NONE"
		return
	}
	s.setLines("healthcheck.test", h.Test)
	s.setDuration("healthcheck.interval", h.Interval)
	s.setDuration("healthcheck.timeout", h.Timeout)
	s.setDuration("healthcheck.start_period", h.StartPeriod)
	s.setDuration("healthcheck.start_interval", h.StartInterval)
	if h.Retries != nil {
		s.setNumber("healthcheck.retries", int64(*h.Retries))
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
	s.setSorted("networks.aliases", aliases)
	s.setSorted("networks.addresses", addresses)
	s.setSorted("mac_address", hardware)
}
