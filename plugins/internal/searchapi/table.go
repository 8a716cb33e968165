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
	{Name: "query", Value: acceptText(), Local: Honoured, SearXNG: Honoured, Required: true},
	{Name: "max_results", Value: acceptInteger(0, MaxResults), Local: Honoured, SearXNG: Honoured},
	{Name: "search_depth", Value: acceptWords("basic", "advanced", "fast", "ultra-fast"), Local: Ignored, SearXNG: Ignored, Neutral: basic},
	{Name: "chunks_per_source", Value: acceptInteger(1, 3), Local: Honoured, SearXNG: Ignored},
	{Name: "topic", Value: acceptWords("general", "news", "finance"), Local: Ignored, SearXNG: Honoured, Neutral: []string{"general"},
		Unserved: []string{"finance"}},
	{Name: "time_range", Value: acceptWords("day", "week", "month", "year", "d", "w", "m", "y"), Local: Ignored, SearXNG: Honoured},
	{Name: "start_date", Value: acceptDate(), Local: Ignored, SearXNG: Honoured, Neutral: []string{""}},
	{Name: "end_date", Value: acceptDate(), Local: Ignored, SearXNG: Honoured, Neutral: []string{""}},
	{Name: "days", Value: acceptInteger(0, maxDays), Local: Ignored, SearXNG: Honoured, Neutral: []string{"0"}, Unserved: []string{"367"}},
	{Name: "country", Value: acceptCountry(), Local: Ignored, SearXNG: Honoured},
	{Name: "language", Value: acceptLanguage(), Local: Ignored, SearXNG: Honoured, Own: true},
	{Name: "include_answer", Value: acceptFlagOr("basic", "advanced"), Local: Ignored, SearXNG: Honoured, Neutral: off},
	{Name: "include_raw_content", Value: acceptFlagOr("markdown", "text"), Local: Honoured, SearXNG: Honoured, Neutral: off},
	{Name: "include_images", Value: acceptFlag(), Local: Ignored, SearXNG: Honoured, Neutral: off},
	{Name: "include_image_descriptions", Value: acceptFlag(), Local: Ignored, SearXNG: Honoured, Neutral: off},
	{Name: "include_favicon", Value: acceptFlag(), Local: Ignored, SearXNG: Ignored, Neutral: off},
	{Name: "include_domains", Value: acceptTexts(maxInclude), Local: Honoured, SearXNG: Honoured},
	{Name: "exclude_domains", Value: acceptTexts(maxExclude), Local: Honoured, SearXNG: Honoured},
	{Name: "exact_match", Value: acceptFlag(), Local: Honoured, SearXNG: Ignored, Neutral: off},
	{Name: "auto_parameters", Value: acceptFlag(), Local: Ignored, SearXNG: Ignored, Neutral: off},
	{Name: "safe_search", Value: acceptFlag(), Local: Ignored, SearXNG: Honoured, Neutral: off},
	{Name: "include_usage", Value: acceptFlag(), Local: Honoured, SearXNG: Honoured, Neutral: off},
}

var extractParameters = []Parameter{
	{Name: "urls", Value: acceptTexts(maxURLs), Local: Honoured, SearXNG: Honoured, Required: true},
	{Name: "query", Value: acceptText(), Local: Ignored, SearXNG: Ignored},
	{Name: "chunks_per_source", Value: acceptInteger(1, 5), Local: Ignored, SearXNG: Ignored},
	{Name: "extract_depth", Value: acceptWords("basic", "advanced"), Local: Ignored, SearXNG: Ignored, Neutral: basic},
	{Name: "format", Value: acceptWords("markdown", "text"), Local: Honoured, SearXNG: Honoured},
	{Name: "timeout", Value: acceptNumber(1, 60), Local: Honoured, SearXNG: Honoured},
	{Name: "include_images", Value: acceptFlag(), Local: Honoured, SearXNG: Honoured, Neutral: off},
	{Name: "include_favicon", Value: acceptFlag(), Local: Ignored, SearXNG: Ignored, Neutral: off},
	{Name: "include_usage", Value: acceptFlag(), Local: Honoured, SearXNG: Honoured, Neutral: off},
}

var mapParameters = []Parameter{
	{Name: "url", Value: acceptText(), Local: Honoured, SearXNG: Honoured, Required: true},
	{Name: "instructions", Value: acceptText(), Local: Ignored, SearXNG: Ignored, Neutral: []string{""}},
	{Name: "max_depth", Value: acceptInteger(1, 5), Local: Honoured, SearXNG: Honoured},
	{Name: "max_breadth", Value: acceptInteger(1, 500), Local: Honoured, SearXNG: Honoured},
	{Name: "limit", Value: acceptInteger(1, math.MaxInt32), Local: Honoured, SearXNG: Honoured},
	{Name: "select_paths", Value: acceptTexts(maxPatterns), Local: Honoured, SearXNG: Honoured},
	{Name: "select_domains", Value: acceptTexts(maxPatterns), Local: Honoured, SearXNG: Honoured},
	{Name: "exclude_paths", Value: acceptTexts(maxPatterns), Local: Honoured, SearXNG: Honoured},
	{Name: "exclude_domains", Value: acceptTexts(maxPatterns), Local: Honoured, SearXNG: Honoured},
	{Name: "allow_external", Value: acceptFlag(), Local: Honoured, SearXNG: Honoured},
	{Name: "timeout", Value: acceptNumber(10, 150), Local: Honoured, SearXNG: Honoured},
	{Name: "include_usage", Value: acceptFlag(), Local: Honoured, SearXNG: Honoured, Neutral: off},
}

var crawlParameters = slices.Concat(mapParameters, []Parameter{
	{Name: "chunks_per_source", Value: acceptInteger(1, 5), Local: Ignored, SearXNG: Ignored},
	{Name: "extract_depth", Value: acceptWords("basic", "advanced"), Local: Ignored, SearXNG: Ignored, Neutral: basic},
	{Name: "format", Value: acceptWords("markdown", "text"), Local: Honoured, SearXNG: Honoured},
	{Name: "include_images", Value: acceptFlag(), Local: Honoured, SearXNG: Honoured, Neutral: off},
	{Name: "include_favicon", Value: acceptFlag(), Local: Ignored, SearXNG: Ignored, Neutral: off},
})

var researchParameters = []Parameter{
	{Name: "input", Value: acceptText(), Local: Honoured, SearXNG: Honoured, Required: true},
	{Name: "model", Value: acceptWords("mini", "pro", "auto"), Local: Honoured, SearXNG: Honoured},
	{Name: "output_length", Value: acceptWords("short", "standard", "long"), Local: Honoured, SearXNG: Honoured},
	{Name: "include_domains", Value: acceptTexts(maxInclude), Local: Honoured, SearXNG: Honoured},
	{Name: "exclude_domains", Value: acceptTexts(maxExclude), Local: Honoured, SearXNG: Honoured},
	{Name: "stream", Value: acceptFlag(), Local: Honoured, SearXNG: Honoured, Neutral: off},
	{Name: "citation_format", Value: acceptWords("numbered", "mla", "apa", "chicago"), Local: Refused, SearXNG: Refused,
		Neutral: []string{"numbered"}},
	{Name: "output_schema", Value: acceptObject(), Local: Refused, SearXNG: Refused, Neutral: []string{"{}"}},
	{Name: "files", Value: acceptList(), Local: Refused, SearXNG: Refused, Neutral: []string{"[]"}},
}
