package conformance

import (
	"strings"

	"github.com/patchbay-dev/patchbay/sdk/search"
)

// DefaultSamples makes a sample of each operation that the host knows, and one more of each that streams. An operation
// of another name gets an empty object.
func DefaultSamples(d *search.Descriptor) []Sample {
	bodies := map[string]string{
		search.OpSearch:   `{"query":"patchbay"}`,
		search.OpExtract:  `{"urls":["https://example.com/"]}`,
		search.OpCrawl:    `{"url":"https://example.com/"}`,
		search.OpMap:      `{"url":"https://example.com/"}`,
		search.OpResearch: `{"input":"patchbay"}`,
	}
	var first, last []Sample
	for _, op := range d.Operations {
		if op.Name == search.OpResearchResult {
			last = append(last, Sample{Operation: op.Name, ResourceFrom: search.OpResearch})
			continue
		}
		body, ok := bodies[op.Name]
		if !ok {
			body = "{}"
		}
		first = append(first, Sample{Operation: op.Name, Body: body})
		if op.Stream {
			last = append(last, Sample{Operation: op.Name, Body: requestStream(body), Stream: true})
		}
	}
	return append(first, last...)
}

// requestStream asks for events.
func requestStream(body string) string {
	body = strings.TrimSuffix(body, "}")
	if body != "{" {
		body += ","
	}
	return body + `"stream":true}`
}
