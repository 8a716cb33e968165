#!/bin/sh
# What the service has stored stays when the package is removed, and goes when dpkg purges it.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
fi
if [ "$1" = purge ]; then
	rm -rf /var/lib/patchbay /var/lib/patchbay-supervisor /run/patchbay
	# What an administrator has put there stays.
	rm -f /etc/patchbay/plugin.lock.hcl
	rmdir /etc/patchbay 2>/dev/null || true
	if getent passwd patchbay >/dev/null; then
		userdel patchbay || true
	fi
	if getent group patchbay >/dev/null; then
		groupdel patchbay || true
	fi
fi
