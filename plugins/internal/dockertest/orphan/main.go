// Command orphan is a search plugin of which each call leaves an orphan behind: a process in a session of its own whose parent has
// ended before the call is answered. It ends once it has another parent.
package main

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// What the program does with this argument, besides being a plugin without one.
const (
	runParent = "parent"
	runOrphan = "orphan"
)

type config struct{}

type backend struct{}

// Invoke leaves an orphan behind and answers with one result.
func (backend) Invoke(context.Context, *search.Request) (*search.Response, error) {
	if err := repeatProgram(runParent).Run(); err != nil {
		return nil, err
	}
	body := `{"query":"","answer":null,"images":[],"results":[{"title":"Third party","url":"https://example.com/third-party","content":"","score":1}]}`
	return &search.Response{Head: search.Head{Status: 200, ContentType: "application/json"}, Body: []byte(body)}, nil
}

// repeatProgram returns the command that runs this program with an argument, in a session of its own.
func repeatProgram(role string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", role)
	cmd.Args[0] = os.Args[0]
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// waitForParent returns once the init process of the container is the parent.
func waitForParent() {
	for os.Getppid() != 1 {
		time.Sleep(10 * time.Millisecond)
	}
}

func newPlugin() framework.Plugin {
	kind := search.New(search.Definition[config]{
		Build: func(search.Instance, config) (search.Open, schema.Diagnostics) {
			return func(context.Context) (search.Backend, error) { return backend{}, nil }, nil
		},
		Operations: []search.Operation{{
			Name: search.OpSearch, Title: "Search", Description: "Find one page.", Tool: "search",
			InputSchema: `{"type":"object","properties":{"query":{"type":"string","description":"Any text."}}}`,
		}},
	})
	return framework.Plugin{Name: "orphan", Version: "1.0.0", Summary: "Finds one page.", Kinds: []framework.Kind{kind}}
}

func main() {
	switch {
	case len(os.Args) < 2:
		framework.Serve(newPlugin())
	case os.Args[1] == runParent:
		if err := repeatProgram(runOrphan).Start(); err != nil {
			os.Exit(1)
		}
	case os.Args[1] == runOrphan:
		waitForParent()
	}
}
