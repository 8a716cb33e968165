package dockerauth

import (
	"slices"
	"strings"
)

// hubKey is what the Docker client calls the registry of docker.io.
const hubKey = "https://index.docker.io/v1/"

// registryHost is the host of a key, which may have a scheme and a path.
func registryHost(key string) string {
	if _, rest, ok := strings.Cut(key, "://"); ok {
		key = rest
	}
	host, _, _ := strings.Cut(key, "/")
	return host
}

// lookupKeys are the names under which credentials of a host may stand, the usual one first.
func lookupKeys(host string) []string {
	host = strings.ToLower(registryHost(host))
	if slices.Contains([]string{"docker.io", "index.docker.io", "registry-1.docker.io"}, host) {
		return []string{hubKey, "index.docker.io", "docker.io", "registry-1.docker.io"}
	}
	return []string{host}
}

// helperFor is the suffix of the helper's name that is asked for a host; empty means that the file itself counts.
func (c *Config) helperFor(keys []string) string {
	for _, key := range keys {
		if h := c.helpers[key]; h != "" {
			return h
		}
	}
	for name, h := range c.helpers {
		if slices.Contains(keys, strings.ToLower(registryHost(name))) && h != "" {
			return h
		}
	}
	return c.store
}

// lookUp finds the credentials in the file. Keys may have a scheme and a path.
func (c *Config) lookUp(keys []string) (entry, bool) {
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
		if slices.Contains(keys, strings.ToLower(registryHost(name))) {
			return c.auths[name], true
		}
	}
	return entry{}, false
}
