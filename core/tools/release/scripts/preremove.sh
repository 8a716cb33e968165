#!/bin/sh
# Stops the services when the package goes, not when it is upgraded: dpkg says "upgrade" then, and rpm 1.
set -e
case "$1" in
upgrade | 1) exit 0 ;;
esac
if [ -d /run/systemd/system ]; then
	systemctl disable --now patchbay-supervisor.service patchbay.service || true
fi
