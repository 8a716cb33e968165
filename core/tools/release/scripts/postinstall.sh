#!/bin/sh
# Makes the user of the service. Nothing is started: that is the administrator's choice.
set -e
if ! getent group patchbay >/dev/null; then
	groupadd --system patchbay
fi
if ! getent passwd patchbay >/dev/null; then
	useradd --system --gid patchbay --home-dir /var/lib/patchbay --no-create-home --shell /usr/sbin/nologin --comment Patchbay patchbay
fi
chgrp patchbay /etc/patchbay /etc/patchbay/plugin.hcl
chmod 0750 /etc/patchbay
chmod 0640 /etc/patchbay/plugin.hcl
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
	# After an upgrade the new version runs.
	systemctl try-restart patchbay.service || true
fi
