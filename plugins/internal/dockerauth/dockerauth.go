// Package dockerauth reads the configuration of the Docker client: which credentials belong to which registry, whether
// they stand in the file or come from a credential helper.
//
// No error of this package holds what stands in the file or what a helper said.
package dockerauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	fileName = "config.json"
	// maxFile is the largest configuration that is read, in bytes.
	maxFile = 4 << 20
)

// Config is a Docker client configuration as it was when it was loaded. It is safe for concurrent use.
type Config struct {
	// path is the file; empty for the anonymous configuration.
	path    string
	raw     []byte
	changed time.Time
	size    int64
	auths   map[string]entry
	helpers map[string]string
	store   string
}

// Load reads path: the file or the directory that holds a config.json. An empty path gives a configuration without
// credentials.
func Load(path string) (*Config, error) {
	if path == "" {
		return &Config{raw: []byte("{}")}, nil
	}
	file, err := locateFile(path)
	if err != nil {
		return nil, err
	}
	raw, info, err := readFile(file)
	if err != nil {
		return nil, err
	}
	c, err := parseConfig(raw)
	if err != nil {
		return nil, fmt.Errorf("%s is not a valid Docker client configuration: %w", file, err)
	}
	c.path, c.raw, c.changed, c.size = file, raw, info.ModTime(), info.Size()
	return c, nil
}

// locateFile is the file that a path means.
func locateFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", unreadableError(path, err)
	}
	if info.IsDir() {
		return filepath.Join(path, fileName), nil
	}
	return path, nil
}

func readFile(file string) ([]byte, os.FileInfo, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, unreadableError(file, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, unreadableError(file, err)
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("the Docker client configuration %s is not a regular file", file)
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, nil, unreadableError(file, err)
	case len(raw) > maxFile:
		return nil, nil, fmt.Errorf("the Docker client configuration %s is larger than %d bytes", file, maxFile)
	}
	return raw, info, nil
}

func unreadableError(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the Docker client configuration %s does not exist: %w", path, fs.ErrNotExist)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("the Docker client configuration %s may not be read: %w", path, fs.ErrPermission)
	}
	return fmt.Errorf("read the Docker client configuration: %w", err)
}

// Changed reports whether the file is another than the one that was loaded, or gone. It reads no content.
func (c *Config) Changed() bool {
	if c.path == "" {
		return false
	}
	info, err := os.Stat(c.path)
	return err != nil || info.Size() != c.size || !info.ModTime().Equal(c.changed)
}

// Get returns what belongs to a registry host, such as "ghcr.io" or "localhost:5000"; all empty means anonymous. An
// identity token is to be exchanged for access; user and password are empty then. A helper has helperTimeout.
func (c *Config) Get(ctx context.Context, host string) (user, password, identityToken string, err error) {
	keys := lookupKeys(host)
	if helper := c.helperFor(keys); helper != "" {
		return fromHelper(ctx, helper, keys)
	}
	a, ok := c.lookUp(keys)
	if !ok {
		return "", "", "", nil
	}
	if a.identityToken != "" {
		return "", "", a.identityToken, nil
	}
	return a.user, a.password, "", nil
}

// Has reports whether there are credentials for a host. A helper that fails counts as none.
func (c *Config) Has(ctx context.Context, host string) bool {
	user, password, token, err := c.Get(ctx, host)
	return err == nil && (user != "" || password != "" || token != "")
}
