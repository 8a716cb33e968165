#!/bin/sh
# What the service has stored stays when the package is removed, and goes when dpkg purges it.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
fi
if [ "$1" = purge ]; then
	rm -rf /var/lib/patchbay
	if getent passwd patchbay >/dev/null; then
		userdel patchbay || true
	fi
fi
