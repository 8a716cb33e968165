package searchapi

import (
	"math"
	"slices"
)

// Limits of the API.
const (
	MaxResults  = 20
	maxDays     = 36_500
	maxInclude  = 300
	maxExclude  = 150
	maxURLs     = 20
	maxPatterns = 50
)

// Values that ask for nothing.
var (
	off   = []string{"false"}
	basic = []string{"basic"}
)

var searchParameters = []Parameter{
	{Name: "query", Value: text(), Local: Honoured, SearXNG: Honoured, Required: true},
	{Name: "max_results", Value: integer(0, MaxResults), Local: Honoured, SearXNG: Honoured},
	{Name: "search_depth", Value: word("basic", "advanced", "fast", "ultra-fast"), Local: Ignored, SearXNG: Ignored, Neutral: basic},
	{Name: "chunks_per_source", Value: integer(1, 3), Local: Honoured, SearXNG: Ignored},
	{Name: "topic", Value: word("general", "news", "finance"), Local: Ignored, SearXNG: Honoured, Neutral: []string{"general"}, Unserved: []string{"finance"}},
	{Name: "time_range", Value: word("day", "week", "month", "year", "d", "w", "m", "y"), Local: Ignored, SearXNG: Honoured},
	{Name: "start_date", Value: date(), Local: Ignored, SearXNG: Honoured, Neutral: []string{""}},
	{Name: "end_date", Value: date(), Local: Ignored, SearXNG: Honoured, Neutral: []string{""}},
	{Name: "days", Value: integer(0, maxDays), Local: Ignored, SearXNG: Honoured, Neutral: []string{"0"}, Unserved: []string{"367"}},
	{Name: "country", Value: country(), Local: Ignored, SearXNG: Honoured},
	{Name: "language", Value: languageCode(), Local: Ignored, SearXNG: Honoured, Own: true},
	{Name: "include_answer", Value: flagOr("basic", "advanced"), Local: Ignored, SearXNG: Honoured, Neutral: off},
	{Name: "include_raw_content", Value: flagOr("markdown", "text"), Local: Honoured, SearXNG: Honoured, Neutral: off},
	{Name: "include_images", Value: flag(), Local: Ignored, SearXNG: Honoured, Neutral: off},
	{Name: "include_image_descriptions", Value: flag(), Local: Ignored, SearXNG: Honoured, Neutral: off},
	{Name: "include_favicon", Value: flag(), Local: Ignored, SearXNG: Ignored, Neutral: off},
	{Name: "include_domains", Value: texts(maxInclude), Local: Honoured, SearXNG: Honoured},
	{Name: "exclude_domains", Value: texts(maxExclude), Local: Honoured, SearXNG: Honoured},
	{Name: "exact_match", Value: flag(), Local: Honoured, SearXNG: Ignored, Neutral: off},
	{Name: "auto_parameters", Value: flag(), Local: Ignored, SearXNG: Ignored, Neutral: off},
	{Name: "safe_search", Value: flag(), Local: Ignored, SearXNG: Honoured, Neutral: off},
	{Name: "include_usage", Value: flag(), Local: Honoured, SearXNG: Honoured, Neutral: off},
}

var extractParameters = []Parameter{
	{Name: "urls", Value: texts(maxURLs), Local: Honoured, SearXNG: Honoured, Required: true},
	{Name: "query", Value: text(), Local: Ignored, SearXNG: Ignored},
	{Name: "chunks_per_source", Value: integer(1, 5), Local: Ignored, SearXNG: Ignored},
	{Name: "extract_depth", Value: word("basic", "advanced"), Local: Ignored, SearXNG: Ignored, Neutral: basic},
	{Name: "format", Value: word("markdown", "text"), Local: Honoured, SearXNG: Honoured},
	{Name: "timeout", Value: number(1, 60), Local: Honoured, SearXNG: Honoured},
	{Name: "include_images", Value: flag(), Local: Honoured, SearXNG: Honoured, Neutral: off},
	{Name: "include_favicon", Value: flag(), Local: Ignored, SearXNG: Ignored, Neutral: off},
	{Name: "include_usage", Value: flag(), Local: Honoured, SearXNG: Honoured, Neutral: off},
}

var mapParameters = []Parameter{
	{Name: "url", Value: text(), Local: Honoured, SearXNG: Honoured, Required: true},
	{Name: "instructions", Value: text(), Local: Ignored, SearXNG: Ignored, Neutral: []string{""}},
	{Name: "max_depth", Value: integer(1, 5), Local: Honoured, SearXNG: Honoured},
	{Name: "max_breadth", Value: integer(1, 500), Local: Honoured, SearXNG: Honoured},
	{Name: "limit", Value: integer(1, math.MaxInt32), Local: Honoured, SearXNG: Honoured},
	{Name: "select_paths", Value: texts(maxPatterns), Local: Honoured, SearXNG: Honoured},
	{Name: "select_domains", Value: texts(maxPatterns), Local: Honoured, SearXNG: Honoured},
	{Name: "exclude_paths", Value: texts(maxPatterns), Local: Honoured, SearXNG: Honoured},
	{Name: "exclude_domains", Value: texts(maxPatterns), Local: Honoured, SearXNG: Honoured},
	{Name: "allow_external", Value: flag(), Local: Honoured, SearXNG: Honoured},
	{Name: "timeout", Value: number(10, 150), Local: Honoured, SearXNG: Honoured},
	{Name: "include_usage", Value: flag(), Local: Honoured, SearXNG: Honoured, Neutral: off},
}

var crawlParameters = slices.Concat(mapParameters, []Parameter{
	{Name: "chunks_per_source", Value: integer(1, 5), Local: Ignored, SearXNG: Ignored},
	{Name: "extract_depth", Value: word("basic", "advanced"), Local: Ignored, SearXNG: Ignored, Neutral: basic},
	{Name: "format", Value: word("markdown", "text"), Local: Honoured, SearXNG: Honoured},
	{Name: "include_images", Value: flag(), Local: Honoured, SearXNG: Honoured, Neutral: off},
	{Name: "include_favicon", Value: flag(), Local: Ignored, SearXNG: Ignored, Neutral: off},
})

var researchParameters = []Parameter{
	{Name: "input", Value: text(), Local: Honoured, SearXNG: Honoured, Required: true},
	{Name: "model", Value: word("mini", "pro", "auto"), Local: Honoured, SearXNG: Honoured},
	{Name: "output_length", Value: word("short", "standard", "long"), Local: Honoured, SearXNG: Honoured},
	{Name: "include_domains", Value: texts(maxInclude), Local: Honoured, SearXNG: Honoured},
	{Name: "exclude_domains", Value: texts(maxExclude), Local: Honoured, SearXNG: Honoured},
	{Name: "stream", Value: flag(), Local: Honoured, SearXNG: Honoured, Neutral: off},
	{Name: "citation_format", Value: word("numbered", "mla", "apa", "chicago"), Local: Refused, SearXNG: Refused, Neutral: []string{"numbered"}},
	{Name: "output_schema", Value: object(), Local: Refused, SearXNG: Refused, Neutral: []string{"{}"}},
	{Name: "files", Value: list(), Local: Refused, SearXNG: Refused, Neutral: []string{"[]"}},
}
