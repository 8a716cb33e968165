// Command app is the program in the images of the tests. Environment variables tell how it behaves: APP_VERSION is what it prints,
// APP_UNHEALTHY keeps its health check failing, APP_CRASH ends it at once with status 3, APP_ENDS after a second with its own value,
// APP_SLOW_START, a duration, is how long it takes until it is healthy, and APP_ANSWERS is the version that it answers with on port
// 50883, as a core does. "app health" is the health check, "app version" prints APP_PRINTS, or else APP_VERSION, as a core does, and goes
// on for ever if that is "hang". "app connect ADDRESS" is a TCP connection between the address and its standard input and output.
package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

const readyFile = "/ready"

func main() {
	if len(os.Args) > 1 && os.Args[1] == "health" {
		reportHealth()
	}
	if len(os.Args) > 1 && os.Args[1] == "version" {
		printVersion()
		return
	}
	if len(os.Args) == 3 && os.Args[1] == "connect" {
		if err := connectTo(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	_ = os.Remove(readyFile)
	fmt.Println("version", os.Getenv("APP_VERSION"))
	if os.Getenv("APP_CRASH") != "" {
		fmt.Fprintln(os.Stderr, "crashing as asked")
		os.Exit(3)
	}
	if status, err := strconv.Atoi(os.Getenv("APP_ENDS")); err == nil {
		time.Sleep(time.Second)
		os.Exit(status)
	}
	// The first process of a container has no default action for signals.
	if version := os.Getenv("APP_ANSWERS"); version != "" {
		go serveCore(version)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	slow, _ := time.ParseDuration(os.Getenv("APP_SLOW_START"))
	ready := time.After(slow)
	for {
		select {
		case <-stop:
			return
		case <-ready:
			if os.Getenv("APP_UNHEALTHY") == "" {
				_ = os.WriteFile(readyFile, nil, 0o644)
			}
		}
	}
}

// serveCore serves what is asked of a core.
func serveCore(version string) {
	http.HandleFunc("GET /api/health", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	http.HandleFunc("GET /api/version", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{"version":%q}`, version) })
	fmt.Fprintln(os.Stderr, http.ListenAndServe(":50883", nil))
	os.Exit(1)
}

// printVersion writes what "patchbay version" does.
func printVersion() {
	version := os.Getenv("APP_PRINTS")
	switch version {
	case "":
		version = os.Getenv("APP_VERSION")
	case "hang":
		fmt.Println("hanging")
		for {
			time.Sleep(time.Hour)
		}
	}
	fmt.Printf("patchbay %s, commit none, %s\n", version, runtime.Version())
}

func reportHealth() {
	if _, err := os.Stat(readyFile); err != nil {
		fmt.Println("not ready")
		os.Exit(1)
	}
	fmt.Println("ready")
	os.Exit(0)
}
