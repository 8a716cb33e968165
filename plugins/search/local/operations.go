package local

import (
	"embed"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/webops"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

//go:embed schema/*.json
var schemas embed.FS

func inputSchema(op string) string {
	// The files are part of the program; a missing one fails the test of this table.
	data, _ := schemas.ReadFile("schema/" + op + ".json")
	return string(data)
}

func listOperations() []search.Operation {
	return append([]search.Operation{
		{
			Name: search.OpSearch, Title: "Search documents", Tool: "search",
			Description: "Search the documents and sites that the operator made available and get the passages that fit the query.",
			InputSchema: inputSchema(search.OpSearch), Required: []string{"query"}, Timeout: 30 * time.Second,
		},
	}, webops.Operations()...)
}
