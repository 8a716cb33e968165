package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/patchbay-dev/patchbay/core/admin"
	"github.com/patchbay-dev/patchbay/core/app"
)

const gcPercent = 400

func goVersion() string { return runtime.Version() }

func (c *command) serve() *cobra.Command {
	return &cobra.Command{Use: "serve", Short: "Run the core", Args: noArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		return c.runCore(cmd.Context())
	}}
}

func (c *command) runCore(ctx context.Context) error {
	began := time.Now()
	// The live heap is small, so that Go's default would spend a sixth of the time under load on collecting garbage.
	if _, set := c.env("GOGC"); !set {
		debug.SetGCPercent(gcPercent)
	}
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	a, diags, err := app.Start(ctx, app.Config{Path: c.config, Env: c.env, Version: Version})
	if reported := c.report(diags); reported != nil {
		return reported
	}
	if err != nil {
		return err
	}
	log := a.Logger()
	log.Info("patchbay is ready", "took", time.Since(began).Round(time.Millisecond), "address", a.URL(), "admin", "http://"+a.AdminAddr())
	c.firstSteps(ctx, a)
	failed := a.Failed()
	for {
		select {
		case <-ctx.Done():
			log.Info("stopping: requests that are under way may finish")
			return a.Close()
		case err := <-failed:
			_ = a.Close()
			return err
		case <-hangup:
			diags, err := a.ReloadBySignal(ctx)
			if reported := c.report(diags); reported != nil {
				err = reported
			}
			if err != nil {
				log.Error("the configuration was not reloaded; the running one stays", "error", err)
			}
		}
	}
}

// firstSteps tells a newcomer how to become an administrator, and how to make the first token and use it.
func (c *command) firstSteps(ctx context.Context, a *app.App) {
	if link, err := a.SetupLink(ctx); err != nil {
		a.Logger().Warn("no set-up link could be made", "error", err)
	} else if link != "" {
		fmt.Fprintf(c.err, `
There is no user yet. Open this link to look around, or to become the first administrator; it works once, for a day:

    %s

`, link)
	}
	base, needed, err := a.NeedsToken(ctx)
	if err != nil || !needed {
		return
	}
	fmt.Fprintf(c.err, `
There is no access token yet. In another terminal:

    TOKEN=$(%s token create -config %s -note first)
    curl -s %s/api/proxy/search -H "Authorization: Bearer $TOKEN" \
         -H 'Content-Type: application/json' -d '{"query":"how do plugins restart"}'

`, os.Args[0], c.config, base)
}

func (c *command) health() *cobra.Command {
	var url string
	cmd := &cobra.Command{Use: "health", Short: "Ask a running core whether it is ready: exit status 0 or 1", Args: noArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		if url == "" {
			addr, err := admin.AdminAddr(c.source())
			if err != nil {
				return err
			}
			url = "http://" + reachable(addr) + "/readyz"
		}
		return probe(cmd.Context(), url)
	}}
	cmd.Flags().StringVar(&url, "url", "", "what to ask (default: /readyz on the configured admin address)")
	return cmd
}

// reachable turns an address that stands for all interfaces into one that can be dialled.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

func probe(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return mistake{err}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	var checks map[string]string
	_ = json.NewDecoder(resp.Body).Decode(&checks)
	return fmt.Errorf("not ready: status %d, %v", resp.StatusCode, checks)
}
