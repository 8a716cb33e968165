package webops

import (
	"embed"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/search"
)

//go:embed schema/*.json
var schemas embed.FS

func inputSchema(op string) string {
	// The files are part of the program; a missing one fails the test of this table.
	data, _ := schemas.ReadFile("schema/" + op + ".json")
	return string(data)
}

const (
	shortCall = 30 * time.Second
	longCall  = 180 * time.Second
)

// Operations are what a backend that uses Ops offers besides its search.
func Operations() []search.Operation {
	return []search.Operation{
		{
			Name: search.OpExtract, Title: "Extract pages", Tool: "extract",
			Description: "Get the readable text of documents and web pages by their addresses.",
			InputSchema: inputSchema(search.OpExtract), Required: []string{"urls"}, Timeout: longCall,
		},
		{
			Name: search.OpMap, Title: "Map a site", Tool: "map",
			Description: "Follow the links of a site and list the addresses of its pages.",
			InputSchema: inputSchema(search.OpMap), Required: []string{"url"}, Timeout: longCall,
		},
		{
			Name: search.OpCrawl, Title: "Crawl a site", Tool: "crawl",
			Description: "Follow the links of a site and get the text of its pages.",
			InputSchema: inputSchema(search.OpCrawl), Required: []string{"url"}, Timeout: longCall,
		},
		{
			Name: search.OpResearch, Title: "Research", Tool: "research",
			Description: "Search, read what is found and get a report that quotes the passages which fit best, with their sources. " +
				"No language model takes part.",
			InputSchema: inputSchema(search.OpResearch), Required: []string{"input"}, Timeout: shortCall, Stream: true,
		},
		{
			Name: search.OpResearchResult, Title: "Result of a research", Timeout: shortCall,
			Description: "Get the state of a research and, once it is completed, its report.",
		},
	}
}
