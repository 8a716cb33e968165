package cli

import (
	"errors"
	"io/fs"
	"os"

	"github.com/patchbay-dev/patchbay/config"
)

const (
	// configVariable names the configuration file.
	configVariable = "PATCHBAY_CONFIG"
	// localConfiguration is the configuration file in the working directory, and systemConfiguration that of the packages.
	localConfiguration  = "plugin.hcl"
	systemConfiguration = "/etc/patchbay/plugin.hcl"
)

// findConfiguration returns the configuration file: that of the flag, else that of the environment, else the one in the working directory,
// else that of the system. If there is none it is the one in the working directory. A file that cannot be looked at counts as there.
func findConfiguration(flag string, env config.Env, system string) string {
	if flag != "" {
		return flag
	}
	if named, ok := env(configVariable); ok && named != "" {
		return named
	}
	for _, path := range []string{localConfiguration, system} {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return path
		}
	}
	return localConfiguration
}
