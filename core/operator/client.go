package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/privatedir"
)

// ErrNoCore says that no core serves one of the sockets.
var ErrNoCore = errors.New("no core runs with this configuration")

// Client calls the API of a running core.
type Client struct{ http *http.Client }

// Connect finds the socket that a core serves, the first of the paths, as SocketPaths returns them. The error is ErrNoCore
// if there is none.
func Connect(ctx context.Context, paths []string) (*Client, error) {
	for _, path := range paths {
		conn, err := dialSocket(ctx, path)
		switch {
		case err == nil:
			_ = conn.Close()
			dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return dialSocket(ctx, path) }
			return &Client{&http.Client{Transport: &http.Transport{DialContext: dial}}}, nil
		case errors.Is(err, fs.ErrPermission):
			return nil, fault.Wrap(err, fault.Forbidden,
				"You may not use the socket %s: run the command as root or as the user that the core runs as.", path)
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOTDIR):
		default:
			return nil, fmt.Errorf("connect to the core: %w", err)
		}
	}
	return nil, fmt.Errorf("%w: nothing answers at %s; start it with patchbay serve, or name its configuration with -config", ErrNoCore,
		strings.Join(paths, " or "))
}

// dialSocket connects to a socket whose server is root, this user or, if this user is root, the owner of its directory.
func dialSocket(ctx context.Context, path string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	_, uid, err := privatedir.Peer(conn.(*net.UnixConn))
	if err == nil && uid != 0 && uid != os.Geteuid() && (os.Geteuid() != 0 || uid != fileOwner(filepath.Dir(path))) {
		err = fmt.Errorf("the socket %s is served by another user (uid %d)", path, uid)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// fileOwner returns the user to whom a file belongs, or -1.
func fileOwner(path string) int {
	info, err := os.Stat(path)
	if err != nil {
		return -1
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}

// Status returns what the core says of itself.
func (c *Client) Status(ctx context.Context) (out Status, err error) {
	return out, c.call(ctx, http.MethodGet, "/status", &out)
}

// Reload has the core read its configuration again, and waits until it has.
func (c *Client) Reload(ctx context.Context) (out Reload, err error) {
	return out, c.call(ctx, http.MethodPost, "/reload", &out)
}

// BeginUpgrade drains the core before it is replaced, unless another core of the database is being upgraded.
func (c *Client) BeginUpgrade(ctx context.Context) (out Upgrade, err error) {
	return out, c.call(ctx, http.MethodPost, "/upgrade/begin", &out)
}

// EndUpgrade lets the core take work again, and another one be upgraded.
func (c *Client) EndUpgrade(ctx context.Context) error {
	return c.call(ctx, http.MethodPost, "/upgrade/end", &Upgrade{})
}

// Plugins returns the configured instances of plugins.
func (c *Client) Plugins(ctx context.Context) (out PluginList, err error) {
	return out, c.call(ctx, http.MethodGet, "/plugins", &out)
}

// RestartPlugin starts the process of an instance again and returns its state then.
func (c *Client) RestartPlugin(ctx context.Context, ref string) (out Plugin, err error) {
	return out, c.call(ctx, http.MethodPost, "/plugins/"+url.PathEscape(ref)+"/restart", &out)
}

// CopyLogs writes the last lines that the process of an instance has written to w, and with follow those that it writes until ctx
// ends.
func (c *Client) CopyLogs(ctx context.Context, w io.Writer, ref string, follow bool) error {
	path := "/plugins/" + url.PathEscape(ref) + "/logs"
	if follow {
		path += "?follow=1"
	}
	body, err := c.open(ctx, http.MethodGet, path)
	if err != nil {
		return err
	}
	defer body.Close()
	if _, err := io.Copy(w, body); err != nil && ctx.Err() == nil {
		return fmt.Errorf("read the log: %w", err)
	}
	return nil
}

// JobQuery says which jobs to list; empty members select all.
type JobQuery struct {
	// State is one of the queue, or "open" for those that have not ended.
	State, Type, Cursor string
	// Here selects those that run at the core that answers.
	Here bool
	// Limit is from 1 to 200; 0 takes 50.
	Limit int
}

// Jobs returns a page of jobs, the newest first.
func (c *Client) Jobs(ctx context.Context, q JobQuery) (out JobPage, err error) {
	values := url.Values{"state": {q.State}, "type": {q.Type}, "cursor": {q.Cursor}}
	if q.Limit != 0 {
		values.Set("limit", fmt.Sprint(q.Limit))
	}
	if q.Here {
		values.Set("here", "true")
	}
	return out, c.call(ctx, http.MethodGet, "/jobs?"+values.Encode(), &out)
}

// Job returns a job with its newest events.
func (c *Client) Job(ctx context.Context, id string) (out JobDetail, err error) {
	return out, c.call(ctx, http.MethodGet, "/jobs/"+url.PathEscape(id), &out)
}

// CancelJob asks a job to stop and returns it as it is then.
func (c *Client) CancelJob(ctx context.Context, id string) (out Job, err error) {
	return out, c.call(ctx, http.MethodPost, "/jobs/"+url.PathEscape(id)+"/cancel", &out)
}

// call makes a request and decodes the answer into out.
func (c *Client) call(ctx context.Context, method, path string, out any) error {
	body, err := c.open(ctx, method, path)
	if err != nil {
		return err
	}
	defer body.Close()
	if err := json.NewDecoder(body).Decode(out); err != nil {
		return fmt.Errorf("read the answer of the core: %w", err)
	}
	return nil
}

// open makes a request and returns the body of an answer without an error.
func (c *Client) open(ctx context.Context, method, path string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://core"+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the core: %w", err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	var failure struct {
		Code    fault.Code `json:"code"`
		Message string     `json:"message"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&failure); err != nil || failure.Message == "" {
		return nil, fmt.Errorf("the core answers with status %d", resp.StatusCode)
	}
	return nil, fault.New(failure.Code, "%s", failure.Message)
}
