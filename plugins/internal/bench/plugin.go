package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/sdk/framework"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// startPlugin starts a plugin of this program or of the built-in binary by itself, as the core does.
func startPlugin(path string, args ...string) (*plugin.Client, *grpc.ClientConn, error) {
	cmd := exec.Command(path, args...)
	client := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: framework.Handshake(), Plugins: plugin.PluginSet{}, Cmd: cmd, SkipHostEnv: true,
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC}, Logger: hclog.NewNullLogger(),
	})
	rpc, err := client.Client()
	if err != nil {
		client.Kill()
		return nil, nil, err
	}
	return client, rpc.(*plugin.GRPCClient).Conn, nil
}

// roundTrip is the p50 of one call over a pooled stream whose plugin answers 1 KB by itself.
func (b *bench) roundTrip() (time.Duration, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	client, conn, err := startPlugin(self, "role", "plugin")
	if err != nil {
		return 0, err
	}
	defer client.Kill()
	ctx := context.Background()
	if _, err := pluginv1.NewPluginClient(conn).Configure(ctx, &pluginv1.ConfigureRequest{Config: &pluginv1.Config{
		InstanceId: "a", Kind: search.Kind, Name: "a", Json: []byte("{}"),
	}}); err != nil {
		return 0, err
	}
	c := search.NewClient(conn, "a", 1)
	defer c.Close()
	var took []time.Duration
	for i := range 30_000 {
		began := time.Now()
		reply, err := c.Invoke(ctx, &search.Request{Operation: search.OpSearch, Body: []byte(smallQuery)})
		if err != nil {
			return 0, err
		}
		reply.Release()
		if i > 5000 {
			took = append(took, time.Since(began))
		}
	}
	return medianValue(took), nil
}

// settleTime is how long a plugin is left alone before it counts as idle: it returns what its start used.
const settleTime = time.Second

// plugin measures starts, memory, and how fast a killed plugin answers again.
func (b *bench) plugin() error {
	var starts []time.Duration
	var pss, dirty []float64
	for range b.starts {
		began := time.Now()
		client, conn, err := startPlugin(filepath.Join(b.bin, "patchbay-plugins"), "search/tavily")
		if err != nil {
			return err
		}
		if _, err := pluginv1.NewPluginClient(conn).Describe(context.Background(), &pluginv1.DescribeRequest{}); err != nil {
			client.Kill()
			return err
		}
		starts = append(starts, time.Since(began))
		time.Sleep(settleTime)
		if pid, err := strconv.Atoi(client.ID()); err == nil {
			p, d := memory(pid)
			pss, dirty = append(pss, p), append(dirty, d)
		}
		client.Kill()
	}
	recoveries, err := b.recoveries()
	if err != nil {
		return err
	}
	fmt.Printf("| a plugin process | median | worst of %d |\n|---|---|---|\n", b.starts)
	fmt.Printf("| start to first call | %s | %s |\n", starts2(starts, false), starts2(starts, true))
	fmt.Printf("| idle memory, PSS without the text of the binary | %.1f MB | %.1f MB |\n", medianValue(pss), slices.Max(pss))
	fmt.Printf("| idle memory, private dirty | %.1f MB | %.1f MB |\n", medianValue(dirty), slices.Max(dirty))
	fmt.Printf("| kill -9 to the next answer through the proxy | %s | %s |\n\n", starts2(recoveries, false), starts2(recoveries, true))
	return nil
}

func starts2(d []time.Duration, worst bool) string {
	if worst {
		return slices.Max(d).Round(100 * time.Microsecond).String()
	}
	return medianValue(d).Round(100 * time.Microsecond).String()
}

// memory reads a process's PSS without file-backed text, and its private dirty memory, in MB.
func memory(pid int) (pss, dirty float64) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, 0
	}
	for line := range strings.SplitSeq(string(raw), "\n") {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		kb, _ := strconv.ParseFloat(f[1], 64)
		switch f[0] {
		case "Pss_Anon:", "Pss_Shmem:":
			pss += kb / 1024
		case "Private_Dirty:":
			dirty = kb / 1024
		}
	}
	return pss, dirty
}

// recoveries times how long after a kill -9 of the plugin the proxy answers 200 again.
func (b *bench) recoveries() ([]time.Duration, error) {
	c, err := b.startCore("recovery", true)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.cmd.Process.Kill() }()
	var took []time.Duration
	for range b.starts {
		pid := firstChild(c.cmd.Process.Pid)
		if pid == 0 {
			return nil, fmt.Errorf("no plugin process was found")
		}
		began := time.Now()
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			return nil, err
		}
		for failed := false; ; {
			ok := ask(c)
			if ok && (failed || firstChild(c.cmd.Process.Pid) != pid) {
				break
			}
			failed = failed || !ok
			if time.Since(began) > 10*time.Second {
				return nil, fmt.Errorf("no answer within 10 s")
			}
			time.Sleep(time.Millisecond)
		}
		took = append(took, time.Since(began))
		// Crashes in a row are answered with growing pauses: what is measured is the first of them.
		time.Sleep(50 * time.Millisecond)
		_ = c.cmd.Process.Kill()
		if c, err = b.startCore("recovery", true); err != nil {
			return nil, err
		}
	}
	return took, nil
}

func ask(c *core) bool {
	req, err := http.NewRequest(http.MethodPost, c.base+"/search/api/proxy/search", strings.NewReader(smallQuery))
	if err != nil {
		return false
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// firstChild is the process whose parent is pid.
func firstChild(pid int) int {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range tasks {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		for _, f := range strings.Fields(string(raw)) {
			if child, err := strconv.Atoi(f); err == nil {
				return child
			}
		}
	}
	return 0
}
