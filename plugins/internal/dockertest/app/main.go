// Command app is the program in the images of the tests. Environment variables tell how it behaves: APP_VERSION is
// what it prints, APP_UNHEALTHY keeps its health check failing, APP_CRASH ends it at once with status 3, and
// APP_SLOW_START, a duration, is how long it takes until it is healthy. "app health" is the health check.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const readyFile = "/ready"

func main() {
	if len(os.Args) > 1 && os.Args[1] == "health" {
		health()
	}
	_ = os.Remove(readyFile)
	fmt.Println("version", os.Getenv("APP_VERSION"))
	if os.Getenv("APP_CRASH") != "" {
		fmt.Fprintln(os.Stderr, "crashing as asked")
		os.Exit(3)
	}
	// The first process of a container has no default action for signals.
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

func health() {
	if _, err := os.Stat(readyFile); err != nil {
		fmt.Println("not ready")
		os.Exit(1)
	}
	fmt.Println("ready")
	os.Exit(0)
}
