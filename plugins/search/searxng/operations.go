package searxng

import (
	_ "embed"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/webops"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

//go:embed schema/search.json
var searchSchema string

// searchTime leaves room for several pages of results, images and the texts of pages.
const searchTime = 180 * time.Second

func listOperations() []search.Operation {
	return append([]search.Operation{{
		Name: search.OpSearch, Title: "Web search", Tool: "search",
		Description: "Search the web by a metasearch engine and get ranked results with a short text of each.",
		InputSchema: searchSchema, Required: []string{"query"}, Timeout: searchTime,
	}}, webops.Operations()...)
}
