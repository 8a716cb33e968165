//go:build !unix

package host

import "os"

// Without owners and modes of files only the unguessable name protects the directory.

func checkParents(string) error { return nil }

func checkPrivate(string) error { return nil }

func checkSocket(path string) error {
	_, err := os.Lstat(path)
	return err
}

// lockDirectory makes a file in the directory that nobody can open a second time.
func lockDirectory(path string) (*os.File, error) {
	return os.OpenFile(path+`\lock`, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
}
