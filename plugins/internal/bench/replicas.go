package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// replicasCost compares the path on PostgreSQL of a core alone with that of one that may have others beside it. It needs the URL of a
// server on which databases may be created, and is left out without one.
func (b *bench) replicasCost() error {
	if b.postgres == "" {
		return nil
	}
	var targets []target
	for _, replicas := range []bool{false, true} {
		database, drop, err := b.createDatabase()
		if err != nil {
			return err
		}
		defer drop()
		name := fmt.Sprintf("replicas-%v", replicas)
		c, err := b.startCoreOn(name, true, "storage \"postgres\" {}\n", "SVC_DATABASE_URL="+database, fmt.Sprintf("SVC_REPLICAS=%v", replicas))
		if err != nil {
			return err
		}
		defer func() { _ = c.cmd.Process.Kill() }()
		pids, err := b.servingProcesses(c)
		if err != nil {
			return err
		}
		targets = append(targets, newTarget(c.base, "/search/api/proxy/search", c.token, smallQuery, pids...))
	}
	fmt.Println("| PostgreSQL, 1 KB, connections | a core alone | with replicas | ratio | CPU a request, alone | CPU, with replicas |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, conns := range b.connections {
		x, y, ratio, err := b.compareTargets(targets[0], targets[1], conns)
		if err != nil {
			return err
		}
		fmt.Printf("| %d | %.0f/s | %.0f/s | %.2f | %s | %s |\n", conns, x.rate, y.rate, ratio, targets[0].describeCPU(x.cpu),
			targets[1].describeCPU(y.cpu))
	}
	fmt.Println()
	return nil
}

// createDatabase makes a database and returns its URL and what drops it.
func (b *bench) createDatabase() (database string, drop func(), err error) {
	u, err := url.Parse(b.postgres)
	if err != nil {
		return "", nil, fmt.Errorf("read the URL of the server: %w", err)
	}
	name := "patchbay_bench_" + strings.ToLower(rand.Text()[:12])
	run := func(statement string) error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		conn, err := pgx.Connect(ctx, b.postgres)
		if err != nil {
			return fmt.Errorf("connect to the server: %w", err)
		}
		defer conn.Close(ctx)
		_, err = conn.Exec(ctx, statement)
		return err
	}
	if err := run("CREATE DATABASE " + name); err != nil {
		return "", nil, fmt.Errorf("create a database: %w", err)
	}
	u.Path = "/" + name
	return u.String(), func() { _ = run("DROP DATABASE " + name + " WITH (FORCE)") }, nil
}
