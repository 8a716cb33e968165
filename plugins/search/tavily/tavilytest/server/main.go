// Command server runs the stand-in for the Tavily API as a process of its own.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/search/tavily/tavilytest"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run serves until it is interrupted. It prints the address that it listens on as its first line.
func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("server", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:0", "address to listen on")
	keys := flags.String("keys", "", "accepted keys, separated by commas; empty accepts all")
	record := flags.String("record", "", "file to which each request is appended as a line of JSON")
	size := flags.Int("result-bytes", 0, "length of the content of each result")
	delay := flags.Duration("stream-delay", 0, "pause between two events")
	quiet := flags.Bool("no-history", false, "keep no requests in memory")
	if err := flags.Parse(args); err != nil {
		return err
	}
	cfg := tavilytest.Config{ResultBytes: *size, StreamDelay: *delay, NoHistory: *quiet}
	if *keys != "" {
		cfg.Keys = strings.Split(*keys, ",")
	}
	if *record != "" {
		f, err := os.OpenFile(*record, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("open record: %w", err)
		}
		defer f.Close()
		cfg.Record = f
	}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	fmt.Fprintf(out, "http://%s\n", l.Addr())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return serveUntilDone(ctx, l, tavilytest.New(cfg))
}

func serveUntilDone(ctx context.Context, l net.Listener, handler *tavilytest.Server) error {
	srv := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	handler.Close()
	end, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := srv.Shutdown(end); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("shut down: %w", err)
	}
	return nil
}
