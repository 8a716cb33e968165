package core

import (
	"os"
	"os/exec"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/sdk/framework"
)

// plugged runs a plugin as a process of its own until the test ends. The connection is made from what its handshake
// says, and knows nothing of the language that it is written in.
func plugged(t *testing.T, program string, args ...string) (*grpc.ClientConn, func() string) {
	t.Helper()
	sockets, err := os.MkdirTemp("", "pb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(sockets) })
	cmd, log := exec.Command(program, args...), &kit.Lines{}
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), plugin.EnvUnixSocketDir + "=" + sockets}
	client := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: framework.Handshake(), Plugins: plugin.PluginSet{}, Cmd: cmd, SkipHostEnv: true,
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC}, Logger: hclog.NewNullLogger(), Stderr: log,
	})
	t.Cleanup(func() {
		client.Kill()
		if status := cmd.ProcessState.ExitCode(); status != 0 {
			t.Errorf("the plugin ended with status %d when it was asked to:\n%s", status, log)
		}
		if t.Failed() {
			t.Logf("the plugin wrote:\n%s", log)
		}
	})
	addr, err := client.Start()
	if err != nil {
		t.Fatalf("start %s: %v\n%s", program, err, log)
	}
	if _, err := client.Client(); err != nil {
		t.Fatalf("connect to %s: %v", program, err)
	}
	conn, err := grpc.NewClient("unix://"+addr.String(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(framework.MaxMessage), grpc.MaxCallSendMsgSize(framework.MaxMessage)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn, log.String
}
