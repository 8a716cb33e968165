package core

import (
	"path/filepath"
	"strings"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// socketDirs returns the directories that cores have made below the configured directory for sockets.
func socketDirs(c *kit.Core) []string {
	c.T.Helper()
	var base string
	for _, e := range c.Env {
		if dir, ok := strings.CutPrefix(e, "SVC_SOCKET_DIR="); ok {
			base = dir
		}
	}
	found, err := filepath.Glob(filepath.Join(base, "*"))
	if err != nil || base == "" {
		c.T.Fatalf("list the directories for sockets in %q: %v", base, err)
	}
	return found
}
