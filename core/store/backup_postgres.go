package store

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// clientTools are the programs of PostgreSQL that copy a database and put a copy back.
var clientTools = []string{"pg_dump", "pg_restore", "psql"}

// clientPackage says what to install for them.
const clientPackage = "install the package postgresql-client (Debian) or postgresql (Fedora)"

// CheckTools reports whether the programs that copy the database are in PATH. The embedded database needs none.
func (c Config) CheckTools() error {
	if c.Dialect != Postgres {
		return nil
	}
	for _, name := range clientTools {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("a backup of PostgreSQL needs %s, which is not in PATH: %s", name, clientPackage)
		}
	}
	return nil
}

// clientVariables are the parameters of a URL that a program of PostgreSQL gets, with the variables for them.
var clientVariables = map[string]string{
	"sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT", "sslcert": "PGSSLCERT", "sslkey": "PGSSLKEY",
	"channel_binding": "PGCHANNELBINDING",
	"connect_timeout": "PGCONNECT_TIMEOUT", "target_session_attrs": "PGTARGETSESSIONATTRS",
}

// clientCommand returns a program of PostgreSQL that connects to the database. The connection stands in its environment, where other
// users do not see the password.
func (c Config) clientCommand(ctx context.Context, name string, args ...string) (*exec.Cmd, error) {
	cfg, err := c.parseDirectURL()
	if err != nil {
		return nil, err
	}
	parsed, err := url.Parse(cmp.Or(c.DirectURL, c.URL))
	if err != nil || parsed.Scheme == "" {
		return nil, errors.New("copy the database: storage url and direct_url must begin with postgres:// for that")
	}
	hosts, ports := []string{cfg.ConnConfig.Host}, []string{strconv.Itoa(int(cfg.ConnConfig.Port))}
	for _, f := range cfg.ConnConfig.Fallbacks {
		if last := len(hosts) - 1; f.Host != hosts[last] || strconv.Itoa(int(f.Port)) != ports[last] {
			hosts, ports = append(hosts, f.Host), append(ports, strconv.Itoa(int(f.Port)))
		}
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "PGHOST="+strings.Join(hosts, ","), "PGPORT="+strings.Join(ports, ","), "PGUSER="+cfg.ConnConfig.User,
		"PGDATABASE="+cfg.ConnConfig.Database, "PGPASSWORD="+cfg.ConnConfig.Password, "PGAPPNAME=patchbay "+name, "LC_ALL=C")
	for parameter, variable := range clientVariables {
		if value := parsed.Query().Get(parameter); value != "" {
			cmd.Env = append(cmd.Env, variable+"="+value)
		}
	}
	return cmd, nil
}

// runClient runs a program of PostgreSQL and returns what it prints.
func (c Config) runClient(ctx context.Context, name string, args ...string) (string, error) {
	cmd, err := c.clientCommand(ctx, name, args...)
	if err != nil {
		return "", err
	}
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		return "", clientError(name, err, &problems)
	}
	return out.String(), nil
}

// maxClientError is how much of what a program of PostgreSQL complains about stands in an error, in bytes.
const maxClientError = 500

// clientError returns the error of a program with the beginning of what it complains about.
func clientError(name string, err error, problems *bytes.Buffer) error {
	text := strings.Join(strings.Fields(problems.String()), " ")
	return fmt.Errorf("%s: %w: %s", name, err, strings.ToValidUTF8(text[:min(len(text), maxClientError)], ""))
}

var clientVersion = regexp.MustCompile(`\) (\d+)`)

// checkClientVersion returns an error if pg_dump is older than the server, which it could not read.
func (c Config) checkClientVersion(ctx context.Context, conn *pgx.Conn) error {
	var server string
	if err := conn.QueryRow(ctx, "SHOW server_version_num").Scan(&server); err != nil {
		return fmt.Errorf("ask the server for its version: %w", err)
	}
	number, err := strconv.Atoi(server)
	if err != nil {
		return fmt.Errorf("the server tells the version %q", server)
	}
	text, err := c.runClient(ctx, "pg_dump", "--version")
	if err != nil {
		return err
	}
	found := clientVersion.FindStringSubmatch(text)
	if found == nil {
		return fmt.Errorf("pg_dump tells the version %q", strings.TrimSpace(text))
	}
	if client, err := strconv.Atoi(found[1]); err != nil || client < number/10000 {
		return fmt.Errorf("pg_dump has the version %s, and the server %d: %s of the server's version or newer", found[1], number/10000,
			clientPackage)
	}
	return nil
}

// LibraryPrefix begins the names of the tables that River, which has jobs begin, keeps for itself. They are not part of copies: what they
// hold is made anew from the tables of the queue.
const LibraryPrefix = "river_"

// tablesQuery lists the tables, views and sequences of the schema in use, without those of extensions, those sequences that belong
// to a column, and the tables of LibraryPrefix.
const tablesQuery = `SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND NOT starts_with(c.relname, '` + LibraryPrefix + `')
	AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
		AND (d.deptype = 'e' OR c.relkind = 'S' AND d.deptype IN ('a', 'i'))) ORDER BY c.relname`

// listTables returns the schema in use and its tables.
func listTables(ctx context.Context, conn *pgx.Conn) (schema string, tables []string, err error) {
	if err := conn.QueryRow(ctx, "SELECT COALESCE(current_schema(), '')").Scan(&schema); err != nil {
		return "", nil, fmt.Errorf("ask for the schema: %w", err)
	}
	if schema == "" {
		return "", nil, errors.New("the database has no schema that the user may use")
	}
	rows, err := conn.Query(ctx, tablesQuery)
	if err != nil {
		return "", nil, fmt.Errorf("list the tables: %w", err)
	}
	tables, err = pgx.CollectRows(rows, pgx.RowTo[string])
	return schema, tables, err
}

// dumpPostgres is Backup on PostgreSQL: the tables of the schema in use, in the custom format of pg_dump, as of one moment.
func (s *Store) dumpPostgres(ctx context.Context, path string) error {
	if err := s.cfg.CheckTools(); err != nil {
		return err
	}
	cfg, err := s.cfg.parseDirectURL()
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return fmt.Errorf("connect to the database: %w", err)
	}
	defer closeConn(conn)
	if err := s.cfg.checkClientVersion(ctx, conn); err != nil {
		return err
	}
	schema, tables, err := listTables(ctx, conn)
	if err != nil {
		return err
	}
	if len(tables) == 0 {
		return errors.New("there is no database yet: it has no tables")
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	pattern := pgx.Identifier{schema}.Sanitize() + "."
	if _, err := s.cfg.runClient(ctx, "pg_dump", "--no-password", "--format=custom", "--no-owner", "--no-privileges",
		"--table="+pattern+"*", "--exclude-table="+pattern+LibraryPrefix+"*", "--file="+path); err != nil {
		return fmt.Errorf("copy the database to %s: %w", path, err)
	}
	return s.cfg.checkDump(ctx, path, schema)
}

// checkDump returns an error unless a file is a copy of the tables of a schema.
func (c Config) checkDump(ctx context.Context, path, schema string) error {
	list, err := c.runClient(ctx, "pg_restore", "--list", path)
	if err != nil {
		return fmt.Errorf("check %s: %w", path, err)
	}
	if !strings.Contains(list, " TABLE "+schema+" ") {
		return fmt.Errorf("check %s: it has no tables of the schema %s, which the database uses", path, schema)
	}
	return nil
}

// ReplacePostgres puts the copy from, which Backup has made, in the place of the tables of a database, whole or not at all. It is refused
// with a LockedError while a core uses the database, and with ErrDatabaseExists if there are tables and overwrite is false. With overwrite
// the former tables are kept in a schema of their own, whose name is returned.
func ReplacePostgres(ctx context.Context, c Config, from string, overwrite bool) (kept string, err error) {
	if err := c.CheckTools(); err != nil {
		return "", err
	}
	cfg, err := c.parseDirectURL()
	if err != nil {
		return "", err
	}
	if c.DirectURL != "" {
		if err := c.checkPooledDatabase(ctx, cfg.ConnConfig); err != nil {
			return "", err
		}
	}
	cfg.ConnConfig.RuntimeParams["application_name"] = "patchbay restore"
	conn, err := acquireServerLock(ctx, cfg.ConnConfig, false)
	if err != nil {
		return "", err
	}
	defer unlockAndClose(conn)
	if err := c.checkClientVersion(ctx, conn); err != nil {
		return "", err
	}
	schema, tables, err := listTables(ctx, conn)
	if err != nil {
		return "", err
	}
	if err := c.checkDump(ctx, from, schema); err != nil {
		return "", err
	}
	if len(tables) > 0 && !overwrite {
		return "", fmt.Errorf("%w: %s on %s has tables", ErrDatabaseExists, cfg.ConnConfig.Database, cfg.ConnConfig.Host)
	}
	script := "BEGIN;\n"
	if len(tables) > 0 {
		if kept, err = freeSchema(ctx, conn); err != nil {
			return "", err
		}
		script += "CREATE SCHEMA " + kept + ";\n"
		for _, table := range tables {
			script += "ALTER TABLE " + pgx.Identifier{schema, table}.Sanitize() + " SET SCHEMA " + kept + ";\n"
		}
	}
	if err := c.runScript(ctx, script, from); err != nil {
		return "", fmt.Errorf("put the database in place: %w", err)
	}
	return kept, nil
}

// freeSchema returns a name for a schema that there is not yet.
func freeSchema(ctx context.Context, conn *pgx.Conn) (string, error) {
	rows, err := conn.Query(ctx, "SELECT nspname FROM pg_namespace")
	if err != nil {
		return "", fmt.Errorf("list the schemas: %w", err)
	}
	taken, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", err
	}
	name := strings.ToLower("before_restore_" + restoreTime())
	free := name
	for n := 2; slices.Contains(taken, free); n++ {
		free = fmt.Sprintf("%s_%d", name, n)
	}
	return free, nil
}

// runScript sends a script, which begins a transaction, to the database and then what a copy holds. The transaction is committed only when
// pg_restore has read the whole copy. If this process ends before, the server rolls it back.
func (c Config) runScript(ctx context.Context, script, from string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	psql, err := c.clientCommand(ctx, "psql", "--no-password", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--output="+os.DevNull)
	if err != nil {
		return err
	}
	var problems bytes.Buffer
	psql.Stderr = &problems
	in, err := psql.StdinPipe()
	if err != nil {
		return err
	}
	if err := psql.Start(); err != nil {
		return err
	}
	_, err = io.WriteString(in, script)
	if err == nil {
		err = c.writeRestore(ctx, in, from)
	}
	if err == nil {
		_, err = io.WriteString(in, "COMMIT;\n")
	}
	if err != nil {
		cancel()
	}
	closed := in.Close()
	failed := psql.Wait()
	switch {
	case failed != nil && problems.Len() > 0:
		return clientError("psql", failed, &problems)
	case err != nil:
		return err
	case failed != nil:
		return fmt.Errorf("psql: %w", failed)
	}
	return closed
}

// writeRestore writes the statements that make what a copy holds. A setting that servers older than pg_dump do not know is left out.
func (c Config) writeRestore(ctx context.Context, out io.Writer, from string) error {
	cmd, err := c.clientCommand(ctx, "pg_restore", "--no-owner", "--no-privileges", "--file=-", from)
	if err != nil {
		return err
	}
	var problems bytes.Buffer
	cmd.Stderr = &problems
	statements, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	in := bufio.NewReader(statements)
	for header := true; header && err == nil; {
		var line string
		line, err = in.ReadString('\n')
		header = !strings.HasPrefix(line, "CREATE ")
		if !strings.HasPrefix(line, "SET transaction_timeout") {
			_, failed := io.WriteString(out, line)
			err = errors.Join(err, failed)
		}
	}
	if err == nil {
		_, err = io.Copy(out, in)
	} else {
		_ = cmd.Process.Kill()
	}
	if failed := cmd.Wait(); failed != nil && problems.Len() > 0 {
		return clientError("pg_restore", failed, &problems)
	} else if err == nil {
		err = failed
	}
	return err
}
