package cli_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/patchbay-dev/patchbay/core/cli"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/operator"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

func TestMain(m *testing.M) {
	testplugin.Main()
	if len(os.Args) == 2 && os.Args[1] == "list" && filepath.Base(os.Args[0]) != "patchbay" {
		// The core asks the binary of the built-in plugins which it holds.
		fmt.Println("[]")
		os.Exit(0)
	}
	testscript.Main(m, map[string]func(){
		"patchbay": func() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs the command line as a person does. What needs the built-in plugins is tested with the whole product.
func TestScripts(t *testing.T) {
	t.Run("scripts", func(t *testing.T) { runScripts(t) })
	if !t.Failed() && flag.Lookup("test.run").Value.String() == "" {
		checkShapesSeen(t)
	}
}

func runScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true, Setup: writePlugin,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": runExits, "await-core": awaitCore, "submit-job": submitJob,
			"documented": compareShape, "first-id": setFirstID, "set-last": setLastWord, "await-job": awaitJob, "await-file": awaitFile, "truncate": truncateFile},
	})
}

// writePlugin makes the test binary usable as the plugin testplugin.sh, which says hello when it starts.
func writePlugin(env *testscript.Env) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	env.Setenv("SVC_HTTP_ADDR", "127.0.0.1:0")
	spec := testplugin.Spec(testplugin.Well)
	text := fmt.Sprintf("#!/bin/sh\necho 'hello from the plugin' >&2\n%s exec '%s' '%s' '%s'\n", testplugin.NoExitPause, self, spec.Args[0],
		spec.Args[1])
	env.Setenv("TESTBINARY", self)
	return os.WriteFile(filepath.Join(env.WorkDir, "testplugin.sh"), []byte(text), 0o700)
}

// runExits is the command "exits STATUS COMMAND ARGUMENT…", which fails if the command ends with another status.
func runExits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("%v has ended with %d instead of %d", args[1:], got, want)
	}
}

// startWithin is how long a core may take to start.
const startWithin = 20 * time.Second

// awaitCore is the command "await-core DATADIR", which waits until the socket of a core answers.
func awaitCore(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(filepath.Join(args[0], operator.SocketName))
	for deadline := time.Now().Add(startWithin); ; time.Sleep(10 * time.Millisecond) {
		_, err := operator.Connect(context.Background(), []string{path})
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("no core answers: %v", err)
		}
	}
}

// submitJob is the command "submit-job DATABASE TYPE DELAY", which queues a job beside the core and sets JOB to its id.
func submitJob(ts *testscript.TestScript, _ bool, args []string) {
	delay, err := time.ParseDuration(args[2])
	ts.Check(err)
	st, err := store.Open(context.Background(), store.Config{Dialect: store.SQLite, Path: ts.MkAbs(args[0])})
	ts.Check(err)
	defer st.Close()
	ts.Check(st.Migrate(context.Background(), queue.Migrations()))
	q, err := queue.New(queue.Config{Store: st, Bus: event.NewBus()})
	ts.Check(err)
	job, _, err := q.Submit(context.Background(),
		queue.Submission{Type: args[1], Actor: "script", RunAt: time.Now().Add(delay), Payload: map[string]string{"secret": "in-the-payload"}})
	ts.Check(err)
	ts.Setenv("JOB", job.ID)
}

// setFirstID is the command "first-id VARIABLE COMMAND ARGUMENT…", which sets the variable to the first word below the heading of
// what the command prints.
func setFirstID(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(ts.Exec(args[1], args[2:]...))
	words := strings.Fields(strings.SplitN(ts.ReadFile("stdout"), "\n", 2)[1])
	ts.Setenv(args[0], words[0])
}

// setLastWord is the command "set-last VARIABLE", which sets the variable to the last word that the last command has printed.
func setLastWord(ts *testscript.TestScript, _ bool, args []string) {
	words := strings.Fields(ts.ReadFile("stdout"))
	ts.Setenv(args[0], words[len(words)-1])
}

// awaitJob is the command "await-job DATADIR STATE", which waits until the job JOB of the core has a state.
func awaitJob(ts *testscript.TestScript, _ bool, args []string) {
	client, err := operator.Connect(context.Background(), []string{ts.MkAbs(filepath.Join(args[0], operator.SocketName))})
	ts.Check(err)
	for deadline := time.Now().Add(startWithin); ; time.Sleep(10 * time.Millisecond) {
		job, err := client.Job(context.Background(), ts.Getenv("JOB"))
		ts.Check(err)
		if job.State == args[1] {
			return
		}
		if time.Now().After(deadline) || job.FinishedAt != "" {
			ts.Fatalf("the job is %s: %+v", job.State, job.Failure)
		}
	}
}

// awaitFile is the command "await-file PATTERN", which waits until a file has a name like that and is not empty.
func awaitFile(ts *testscript.TestScript, _ bool, args []string) {
	for deadline := time.Now().Add(startWithin); ; time.Sleep(5 * time.Millisecond) {
		found, err := filepath.Glob(ts.MkAbs(args[0]))
		ts.Check(err)
		if len(found) > 0 {
			if info, err := os.Stat(found[0]); err == nil && info.Size() > 0 {
				return
			}
		}
		if time.Now().After(deadline) {
			ts.Fatalf("there is no file %s", args[0])
		}
	}
}

// truncateFile is the command "truncate FILE SIZE", which makes a file of a size in bytes that takes no room.
func truncateFile(ts *testscript.TestScript, _ bool, args []string) {
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_WRONLY|os.O_CREATE, 0o600)
	ts.Check(err)
	ts.Check(errors.Join(f.Truncate(size), f.Close()))
}
