package kit

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ChainHCL is a chain of a web instance and a local one.
func ChainHCL(url, service string) string {
	return strings.Replace(WebHCL(url, "", EndlessLimits+"\n"+service), "= search.web", "= [search.web, search.docs]", 1) + `
search "local" "docs" {
  config { folders = ["docs"] }
}
`
}

// PluginOf waits for the process of a plugin, such as search/local.
func (c *Core) PluginOf(name string) (found int) {
	c.T.Helper()
	Eventually(c.T, StartWithin, "a process of "+name+" runs", func() bool {
		for _, pid := range c.Plugins() {
			line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
			if err == nil && strings.Contains(string(line), name) {
				found = pid
			}
		}
		return found != 0
	})
	return found
}
