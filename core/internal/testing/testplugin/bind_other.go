//go:build !linux

package testplugin

import "os/exec"

// bindToParent does nothing where the kernel cannot do it.
func bindToParent(*exec.Cmd) {}
