#!/bin/sh
# Makes the user of the service. Nothing is started: that is the administrator's choice.
set -e
if ! getent group patchbay >/dev/null; then
	groupadd --system patchbay
fi
if ! getent passwd patchbay >/dev/null; then
	useradd --system --gid patchbay --home-dir /var/lib/patchbay --no-create-home --shell /usr/sbin/nologin --comment Patchbay patchbay
fi
# An administrator may have removed the configuration, which an upgrade respects.
if [ -d /etc/patchbay ]; then
	chgrp patchbay /etc/patchbay
	chmod 0750 /etc/patchbay
fi
if [ -f /etc/patchbay/plugin.hcl ]; then
	chgrp patchbay /etc/patchbay/plugin.hcl
	chmod 0640 /etc/patchbay/plugin.hcl
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
	# After an upgrade the new version runs.
	systemctl try-restart patchbay.service || true
fi
