package cli

import (
	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/hashicorp/go-hclog"
)

// notifySystemd tells the service manager a state of the core, such as daemon.SdNotifyReady. Without one it does nothing.
func notifySystemd(log hclog.Logger, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Warn("cannot notify systemd", "state", state, "error", err)
	}
}
