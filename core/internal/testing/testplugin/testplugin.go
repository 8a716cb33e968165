// Package testplugin is a search plugin that misbehaves on demand, for the tests of the host. A test binary turns
// itself into this plugin: Main in TestMain, Spec to start it.
package testplugin

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-plugin"

	"github.com/patchbay-dev/patchbay/core/plugin/host"
	"github.com/patchbay-dev/patchbay/sdk/framework"
)

// Marker is the first argument of a process that is to be the plugin; the mode follows.
const Marker = "patchbay-testplugin"

// Modes of misbehaving before the plugin serves. Well is a plugin that behaves until an operation says otherwise.
const (
	Well         = "well"
	Garbage      = "garbage"
	Silent       = "silent"
	Exit         = "exit"
	WrongVersion = "wrong-version"
	WrongCookie  = "wrong-cookie"
	Noisy        = "noisy"
	// OverTCP and Elsewhere shake hands with an address that is no socket in the directory of the plugin.
	OverTCP   = "over-tcp"
	Elsewhere = "elsewhere"
	// Exclusive is a plugin whose instances lock their data directory.
	Exclusive = "exclusive"
	// OtherService offers the kind by a service that this core does not know.
	OtherService = "other-service"
	// OddSchema describes its configuration with a type of attribute that this core does not know.
	OddSchema = "odd-schema"
	// Channel is a plugin of the kind notify; see SendBy.
	Channel = "channel"
	// Upstream is a plugin of the kinds registry, codehost and dns; see Outcomes.
	Upstream = "upstream"
	// ContainerEngine is a plugin of the kind engine; see Endless.
	ContainerEngine = "engine"
)

// Operations of the plugin.
const (
	OpEcho       = "search"
	OpPanic      = "panic"
	OpHang       = "hang"
	OpBig        = "big"
	OpCrash      = "crash"
	OpEnv        = "env"
	OpGrandchild = "grandchild"
	// OpDaemon starts a process that leaves the plugin's process group and keeps its standard output and error. It answers
	// with the process id.
	OpDaemon = "daemon"
	OpFail   = "fail"
	// OpHanging answers with the number of OpHang and OpSlow calls that are being served.
	OpHanging = "hanging"
	// OpSlow answers after the time that the body names, as a Go duration in a JSON string.
	OpSlow = "slow"
	// OpPID answers with the process id.
	OpPID = "pid"
	// OpLog writes a warning with the body's text to the instance's log.
	OpLog = "log"
)

// BindToParent is the body that makes OpGrandchild's process die with the plugin. Without it the process is an ordinary
// child, which only the plugin's process group holds.
const BindToParent = "bind"

// NoExitPause keeps a process that is built with the race detector from pausing for a second when it ends.
const NoExitPause = "GORACE=atexit_sleep_ms=0"

// Spec starts the running test binary as the plugin in a mode.
func Spec(mode string) host.Spec {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return host.Spec{Name: "testplugin", Path: self, Args: []string{Marker, mode}, Env: []string{NoExitPause}}
}

// Build builds the plugin as a program of its own, command process, in a directory and returns its path.
func Build(dir string) (string, error) {
	program := filepath.Join(dir, "testplugin")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program,
		"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin/process")
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the plugin: %w: %s", err, text)
	}
	return program, nil
}

// Main does not return if the process was started as the plugin.
func Main() {
	if len(os.Args) < 3 || os.Args[1] != Marker {
		return
	}
	switch os.Args[2] {
	case Garbage:
		syscallWrite("this is no handshake\n")
		time.Sleep(time.Minute)
	case Silent:
		time.Sleep(time.Minute)
	case Exit:
		fmt.Fprintln(os.Stderr, "cannot go on")
		os.Exit(3)
	case WrongVersion:
		h := framework.Handshake()
		h.ProtocolVersion = 7
		os.Stdout = framework.Stdout()
		plugin.Serve(&plugin.ServeConfig{HandshakeConfig: h, Plugins: plugin.PluginSet{}, GRPCServer: plugin.DefaultGRPCServer})
	case WrongCookie:
		h := framework.Handshake()
		h.MagicCookieValue = "something else"
		plugin.Serve(&plugin.ServeConfig{HandshakeConfig: h, Plugins: plugin.PluginSet{}, GRPCServer: plugin.DefaultGRPCServer})
	case OverTCP:
		shakeHands("tcp", "127.0.0.1:9")
	case Elsewhere:
		shakeHands("unix", "/tmp/patchbay-elsewhere.sock")
	case Noisy:
		fmt.Println("a print before the plugin serves")
	case Exclusive:
		framework.Serve(exclusivePlugin())
		os.Exit(0)
	case OtherService:
		framework.Serve(otherPlugin())
		os.Exit(0)
	case OddSchema:
		framework.Serve(oddPlugin())
		os.Exit(0)
	case Channel:
		framework.Serve(channelPlugin())
		os.Exit(0)
	case Upstream:
		framework.Serve(upstreamPlugin())
		os.Exit(0)
	case ContainerEngine:
		framework.Serve(enginePlugin())
		os.Exit(0)
	}
	framework.Serve(Plugin())
	os.Exit(0)
}

// shakeHands writes the handshake of a plugin that listens at an address, and waits.
func shakeHands(network, addr string) {
	syscallWrite(fmt.Sprintf("1|1|%s|%s|grpc|\n", network, addr))
	time.Sleep(time.Minute)
}

// syscallWrite writes past the guard of stdout, as a broken plugin without the SDK would.
func syscallWrite(text string) { _, _ = framework.Stdout().WriteString(text) }
