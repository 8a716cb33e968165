package dockerauth

import (
	"slices"
	"strings"

	"github.com/docker/cli/cli/config/credentials"
	"github.com/docker/cli/cli/config/types"
)

// hubKey is what the Docker client calls the registry of docker.io.
const hubKey = "https://index.docker.io/v1/"

// keysOf are the names under which credentials of a host may stand, the usual one first.
func keysOf(host string) []string {
	host = strings.ToLower(credentials.ConvertToHostname(host))
	if slices.Contains([]string{"docker.io", "index.docker.io", "registry-1.docker.io"}, host) {
		return []string{hubKey, "index.docker.io", "docker.io", "registry-1.docker.io"}
	}
	return []string{host}
}

// helper is the suffix of the helper's name that is asked for a host; empty means that the file itself counts.
func (c *Config) helper(keys []string) string {
	for _, key := range keys {
		if h := c.helpers[key]; h != "" {
			return h
		}
	}
	for name, h := range c.helpers {
		if slices.Contains(keys, strings.ToLower(credentials.ConvertToHostname(name))) && h != "" {
			return h
		}
	}
	return c.store
}

// entry finds the credentials in the file. Keys may have a scheme and a path.
func (c *Config) entry(keys []string) (types.AuthConfig, bool) {
	for _, key := range keys {
		if a, ok := c.auths[key]; ok {
			return a, true
		}
	}
	names := make([]string, 0, len(c.auths))
	for name := range c.auths {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if slices.Contains(keys, strings.ToLower(credentials.ConvertToHostname(name))) {
			return c.auths[name], true
		}
	}
	return types.AuthConfig{}, false
}
