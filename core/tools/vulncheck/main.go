// Command vulncheck runs govulncheck over the packages of modules and fails if one calls what is known to be vulnerable.
// Where the database of vulnerabilities cannot be reached it says in one line that nothing was checked, and succeeds.
//
// Usage: vulncheck [-db URL] MODULE-DIR…
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/vuln/scan"
)

const (
	// probeTimeout bounds the question whether the database can be reached, scanTimeout the check of one module.
	probeTimeout = 5 * time.Second
	scanTimeout  = 10 * time.Minute
)

func main() {
	db := flag.String("db", "https://vuln.go.dev", "the database of vulnerabilities")
	flag.Parse()
	if err := checkModules(context.Background(), os.Stdout, *db, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "vulncheck:", err)
		os.Exit(1)
	}
}

// checkModules checks the modules in dirs, or says that it did not.
func checkModules(ctx context.Context, out io.Writer, db string, dirs []string) error {
	if err := probeDatabase(ctx, db); err != nil {
		fmt.Fprintf(out, "govulncheck was not run: the database of vulnerabilities cannot be reached: %v\n", err)
		return nil
	}
	var failed []error
	for _, dir := range dirs {
		if err := scanModule(ctx, out, db, dir); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", dir, err))
		}
	}
	return errors.Join(failed...)
}

// probeDatabase returns why the database cannot be reached.
func probeDatabase(ctx context.Context, db string) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(db, "/")+"/index/db.json", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers with status %d", req.URL, resp.StatusCode)
	}
	return nil
}

// scanModule fails if a package of the module in dir calls something vulnerable, or cannot be checked.
func scanModule(ctx context.Context, out io.Writer, db, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, scanTimeout)
	defer cancel()
	cmd := scan.Command(ctx, "-db", db, "-C", dir, "./...")
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Wait()
}
