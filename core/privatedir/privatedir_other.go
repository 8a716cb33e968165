//go:build !unix

package privatedir

import "os"

// Without owners and modes of files only the unguessable name protects the directory.

// CheckParents accepts every path.
func CheckParents(string) error { return nil }

// CheckPrivate accepts every path.
func CheckPrivate(string) error { return nil }

// CheckSocket reports an error if there is no file at path.
func CheckSocket(path string) error {
	_, err := os.Lstat(path)
	return err
}

// OwnerRemedy returns the text other.
func OwnerRemedy(_, other string) string { return other }

// LockDirectory makes a file in the directory that nobody can open a second time.
func LockDirectory(path string) (*os.File, error) {
	return os.OpenFile(path+`\lock`, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
}
