package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/notify"
)

func TestConformance(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lines")
	settings, err := json.Marshal(map[string]string{"file": file})
	if err != nil {
		t.Fatal(err)
	}
	conformance.TestNotify(t, plugin(), conformance.NotifyConfig{
		JSON:    string(settings),
		Invalid: []string{`{"file":""}`},
		Failures: []conformance.NotifyCase{
			{JSON: `{"file":"/dev/null/missing"}`, Outcome: notify.Refused},
		},
		Received: func() (ids []string) {
			content, _ := os.ReadFile(file)
			for line := range strings.Lines(string(content)) {
				id, _, _ := strings.Cut(line, " ")
				ids = append(ids, id)
			}
			return ids
		},
	})
}
