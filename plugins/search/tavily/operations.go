package tavily

import (
	"embed"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/search"
)

//go:embed schema/*.json
var schemas embed.FS

const (
	shortCall = 90 * time.Second
	// longCall exceeds the 150 seconds that the API may spend on a crawl.
	longCall = 180 * time.Second
)

func inputSchema(op string) string {
	// The files are part of the program; a missing one fails the test of this table.
	data, _ := schemas.ReadFile("schema/" + op + ".json")
	return string(data)
}

func advancedPrice(field string, rate int64) []search.PriceCase {
	return []search.PriceCase{{Field: field, Equals: "advanced", Rate: rate}}
}

// mapTerm is what following links costs: by the number of pages, twice as much with instructions.
func mapTerm() search.PriceTerm {
	return search.PriceTerm{
		CountField: "limit", DefaultCount: 50, Unit: 10, Rate: 1, Cases: []search.PriceCase{{Field: "instructions", Rate: 2}},
	}
}

func listOperations() []search.Operation {
	return []search.Operation{
		{
			Name: search.OpSearch, Title: "Web search", Tool: "tavily_search",
			Description: "Search the web and get ranked results with the passages that fit the query.",
			InputSchema: inputSchema(search.OpSearch), Required: []string{"query"}, Timeout: shortCall,
			Price: []search.PriceTerm{{Unit: 1, Rate: 1, Cases: advancedPrice("search_depth", 2)}},
		},
		{
			Name: search.OpExtract, Title: "Extract pages", Tool: "tavily_extract",
			Description: "Get the readable text of web pages by their addresses.",
			InputSchema: inputSchema(search.OpExtract), Required: []string{"urls"}, Timeout: longCall,
			Price: []search.PriceTerm{{
				CountField: "urls", DefaultCount: 1, Unit: 5, Rate: 1, Cases: advancedPrice("extract_depth", 2),
			}},
		},
		{
			Name: search.OpCrawl, Title: "Crawl a site", Tool: "tavily_crawl",
			Description: "Follow the links of a site and get the text of its pages.",
			InputSchema: inputSchema(search.OpCrawl), Required: []string{"url"}, Timeout: longCall,
			Price: []search.PriceTerm{mapTerm(), {
				CountField: "limit", DefaultCount: 50, Unit: 5, Rate: 1, Cases: advancedPrice("extract_depth", 2),
			}},
		},
		{
			Name: search.OpMap, Title: "Map a site", Tool: "tavily_map",
			Description: "Follow the links of a site and list the addresses of its pages.",
			InputSchema: inputSchema(search.OpMap), Required: []string{"url"}, Timeout: longCall,
			Price: []search.PriceTerm{mapTerm()},
		},
		{
			Name: search.OpResearch, Title: "Research", Tool: "tavily_research",
			Description: "Start a research over many sources; the result is a report with citations.",
			InputSchema: inputSchema(search.OpResearch), Required: []string{"input"}, Timeout: longCall, Stream: true,
			Price: []search.PriceTerm{{Unit: 1, Rate: 50, Cases: []search.PriceCase{
				{Field: "model", Equals: "mini", Rate: 40}, {Field: "model", Equals: "pro", Rate: 100},
			}}},
		},
		{
			Name: search.OpResearchResult, Title: "Result of a research", Timeout: shortCall,
			Description: "Get the state of a research and, once it is completed, its report.",
		},
	}
}
