// Command core plays a core that is wrong in some way. The file "patchbay-plugins" beside it says which, as JSON.
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"github.com/patchbay-dev/patchbay/plugins/internal/systemdtest"
)

func main() {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(self), "patchbay-plugins"))
	if err != nil {
		panic(err)
	}
	var b systemdtest.Behaviour
	if err := json.Unmarshal(raw, &b); err != nil {
		panic(err)
	}
	if os.Args[1] == "version" {
		if b.CannotStart {
			os.Exit(127)
		}
		fmt.Printf("patchbay %s, commit none, go\n", b.Prints)
		return
	}
	if b.Crashes {
		fmt.Fprintln(os.Stderr, "crashing as asked")
		os.Exit(3)
	}
	http.HandleFunc("GET /api/health", func(w http.ResponseWriter, _ *http.Request) {
		if b.Unhealthy {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	http.HandleFunc("GET /api/version", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{"version":%q}`, b.Answers) })
	listener, err := net.Listen("tcp", os.Getenv("SVC_HTTP_ADDR"))
	if err != nil {
		panic(err)
	}
	if !b.NeverReady {
		notify, err := net.Dial("unixgram", os.Getenv("NOTIFY_SOCKET"))
		if err != nil {
			panic(err)
		}
		fmt.Fprint(notify, "READY=1")
	}
	panic(http.Serve(listener, nil))
}
