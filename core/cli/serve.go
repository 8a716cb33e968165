package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/spf13/cobra"

	"github.com/patchbay-dev/patchbay/core/admin"
	"github.com/patchbay-dev/patchbay/core/app"
	"github.com/patchbay-dev/patchbay/core/cli/command"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

// gcPercent is the GOGC of the core unless the environment says otherwise.
const gcPercent = 400

// firstIndexTime is how long a first start waits for its index at most.
const firstIndexTime = 10 * time.Second

func (c *commandLine) serveCommand() *cobra.Command {
	return &cobra.Command{Use: "serve", Short: "Start Patchbay",
		Long: "Start the services in plugin.hcl, their plugins and the console. It runs until you stop it with Ctrl-C or SIGTERM;\n" +
			"SIGHUP reloads the configuration.", Example: command.Examples("patchbay serve", "SVC_HTTP_ADDR=127.0.0.1:8080 patchbay serve"),
		Args: command.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			return c.runCore(cmd.Context())
		}}
}

func (c *commandLine) runCore(ctx context.Context) error {
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
	// Who reads that line may search.
	a.WaitUntilIndexed(ctx, firstIndexTime)
	log.Info("patchbay is ready", "took", time.Since(began).Round(time.Millisecond), "address", a.URL(), "admin", "http://"+a.AdminAddr())
	notifySystemd(log, daemon.SdNotifyReady)
	c.printFirstSteps(ctx, a)
	failed := a.Failed()
	for {
		select {
		case <-ctx.Done():
			log.Info("shutting down, waiting for running requests")
			notifySystemd(log, daemon.SdNotifyStopping)
			return a.Close()
		case err := <-failed:
			_ = a.Close()
			return err
		case <-hangup:
			notifySystemd(log, daemon.SdNotifyReloading)
			diags, err := a.ReloadBySignal(ctx)
			notifySystemd(log, daemon.SdNotifyReady)
			if reported := c.report(diags); reported != nil {
				err = reported
			}
			if err != nil {
				log.Error("reload failed, keeping the running configuration", "error", err)
			}
		}
	}
}

// printFirstSteps tells a newcomer how to become an administrator, and what else the services need at first.
func (c *commandLine) printFirstSteps(ctx context.Context, a *app.App) {
	if link, err := a.SetupLink(ctx); err != nil {
		a.Logger().Warn("cannot create a set-up link", "error", err)
	} else if link != "" {
		fmt.Fprintf(c.err, `
Create the administrator's account (this link works once, for 24 hours):

    %s

`, link)
	}
	for _, text := range a.FirstSteps(ctx, os.Args[0]) {
		fmt.Fprint(c.err, text)
	}
}

func (c *commandLine) healthCommand() *cobra.Command {
	var url string
	cmd := &cobra.Command{Use: "health", Short: "Check whether the core is ready", Args: command.NoArgs,
		Long:    "Use it as the health check of a container. The exit status is 1 if the core is not ready.",
		Example: command.Examples("patchbay health", "patchbay health -url http://127.0.0.1:50885/readyz")}
	out := command.AddOutput(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if url == "" {
			addr, err := admin.AdminAddr(c.source())
			if err != nil {
				return err
			}
			url = "http://" + httpd.DialAddr(addr) + "/readyz"
		}
		err := probeReady(cmd.Context(), url)
		if out.JSON() {
			return errors.Join(command.PrintJSON(c.out, map[string]bool{"ready": err == nil}), err)
		}
		return err
	}
	cmd.Flags().StringVar(&url, "url", "", "URL to ask (default: /readyz on the configured admin address)")
	return cmd
}

// probeReady asks whether a core is ready.
func probeReady(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return command.Mistake{Err: err}
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
