package local_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/search/local"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// TestOverTheWire calls the plugin as the host does, with the defaults of the configuration.
func TestOverTheWire(t *testing.T) {
	loaded := plugintest.Load(t, local.Plugin())
	cfg := plugintest.Config(t, search.Kind, "docs", `{"folders":["README.md"]}`)
	if err := os.WriteFile(filepath.Join(cfg.BaseDir, "README.md"), []byte("# Readme\n\nsearchable words"), 0o600); err != nil {
		t.Fatal(err)
	}
	id := loaded.Configure(t, cfg)
	for _, streams := range []int{4, -1} {
		client := search.NewClient(loaded.Conn, id, streams)
		reply, err := client.Invoke(t.Context(), &search.Request{Operation: search.OpSearch, Body: []byte(`{"query":"searchable"}`)})
		if err != nil || reply.Status != 200 || !strings.Contains(string(reply.Body), `"url":"file:README.md"`) {
			t.Errorf("%d streams: got %+v, %v", streams, reply, err)
		}
		if reply != nil && (reply.Usage == nil || reply.Usage.Credits != 0) {
			t.Errorf("%d streams: usage is %v", streams, reply.Usage)
		}
		_ = client.Close()
	}
	cfg.Json = []byte(`{"folders":["README.md","missing"]}`)
	resp, err := loaded.Plugin.Validate(t.Context(), &pluginv1.ValidateRequest{Config: cfg})
	diags := schema.DiagnosticsFromProto(resp.GetDiagnostics())
	if err != nil || len(diags) != 1 || diags[0].Path.String() != "folders[1]" {
		t.Errorf("got %v, %v", diags, err)
	}
}
