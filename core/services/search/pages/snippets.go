package pages

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
)

// clients holds how clients are pointed at this service, one file each, with the address written {url}.
//
//go:embed clients
var clients embed.FS

// snippet is how a client is pointed at this service.
type snippet struct {
	Name string `json:"name"`
	File string `json:"file"`
	// Documented says that it was written by the client's documentation; the others are run by tests.
	Documented bool `json:"documented"`
	Text       string
}

// readSnippets reads the snippets in the order of their index.
func readSnippets() ([]snippet, error) {
	raw, err := clients.ReadFile("clients/index.json")
	if err != nil {
		return nil, fmt.Errorf("read the snippets: %w", err)
	}
	var out []snippet
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("read the snippets: %w", err)
	}
	for i := range out {
		text, err := clients.ReadFile("clients/" + out[i].File)
		if err != nil {
			return nil, fmt.Errorf("read the snippets: %w", err)
		}
		out[i].Text = strings.TrimSpace(string(text))
	}
	return out, nil
}

// textFor is the snippet with the address of the service. The token stands in the environment.
func (s snippet) textFor(url string) string { return strings.ReplaceAll(s.Text, "{url}", url) }
