//go:build !linux

package framework

import "os"

func guardStdout() *os.File {
	guarded := os.Stdout
	if os.Getenv(cookieKey) != "" {
		os.Stdout = os.Stderr
	}
	return guarded
}
