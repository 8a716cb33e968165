package tavilytest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// call is one request to an endpoint that takes a JSON object.
type call struct {
	server *Server
	key    string
	w      http.ResponseWriter
	r      *http.Request
	in     map[string]any
}

func (c *call) textField(name, fallback string) string {
	if v, ok := c.in[name].(string); ok && v != "" {
		return v
	}
	return fallback
}

func (c *call) flagField(name string) bool {
	v, ok := c.in[name].(bool)
	_, text := c.in[name].(string)
	return ok && v || text
}

func (c *call) numberField(name string, fallback int) int {
	if v, ok := c.in[name].(float64); ok {
		return int(v)
	}
	return fallback
}

// checkInput returns the text of a 400, or nothing.
func checkInput(path string, in map[string]any) string {
	required := map[string]string{"search": "query", "extract": "urls", "crawl": "url", "map": "url", "research": "input"}
	if name := required[path]; name != "" && (in[name] == nil || in[name] == "") {
		return "[400] Missing required parameter: " + name
	}
	for name, allowed := range map[string][]string{
		"topic": {"general", "news", "finance"}, "search_depth": {"basic", "advanced", "fast", "ultra-fast"},
		"extract_depth": {"basic", "advanced"}, "model": {"mini", "pro", "auto"}, "format": {"markdown", "text"},
	} {
		if v, ok := in[name]; ok && v != nil && !slices.ContainsFunc(allowed, func(a string) bool { return a == v }) {
			return fmt.Sprintf("Invalid %s. Must be one of: %s", name, strings.Join(allowed, ", "))
		}
	}
	if urls, ok := in["urls"].([]any); ok && len(urls) > 20 {
		return "Max 20 URLs are allowed."
	}
	return ""
}

// writeAnswer writes a success with what all of them have in common.
func (c *call) writeAnswer(credits int64, out map[string]any) {
	c.server.chargeKey(c.key, credits)
	out["response_time"] = 0.42
	if c.flagField("include_usage") {
		out["usage"] = map[string]any{"credits": credits}
	}
	out["request_id"] = c.server.newID()
	writeJSON(c.w, http.StatusOK, out)
}

func (c *call) makeContent(about string) string {
	text := "Passage about " + about + ". "
	return strings.Repeat(text, c.server.cfg.ResultBytes/len(text)+1)[:c.server.cfg.ResultBytes]
}

func (c *call) answerSearch() {
	query := c.textField("query", "")
	results := []any{}
	for i := range c.numberField("max_results", 5) {
		r := map[string]any{
			"title": fmt.Sprintf("Result %d", i+1), "url": fmt.Sprintf("https://example.org/%d", i+1),
			"content": c.makeContent(strings.ToValidUTF8(query[:min(len(query), 40)], "")), "score": 0.99 - float64(i)/100, "raw_content": nil,
		}
		if c.flagField("include_raw_content") {
			r["raw_content"] = "# Result\n\n" + c.makeContent("the page")
		}
		if c.flagField("include_favicon") {
			r["favicon"] = "https://example.org/favicon.ico"
		}
		results = append(results, r)
	}
	out := map[string]any{"query": query, "follow_up_questions": nil, "answer": nil, "images": []any{}, "results": results}
	if c.flagField("include_answer") {
		out["answer"] = "An answer to the question."
	}
	if c.flagField("include_images") {
		out["images"] = []any{"https://example.org/image.png"}
	}
	credits := int64(1)
	if c.textField("search_depth", "basic") == "advanced" {
		credits = 2
	}
	c.writeAnswer(credits, out)
}

func (c *call) depthCost() int64 {
	if c.textField("extract_depth", "basic") == "advanced" {
		return 2
	}
	return 1
}

func ceilDivide(n, unit int) int64 { return int64((n + unit - 1) / unit) }

func (c *call) answerExtract() {
	urls, ok := c.in["urls"].([]any)
	if !ok {
		urls = []any{c.in["urls"]}
	}
	results, failed := []any{}, []any{}
	for _, u := range urls {
		if strings.Contains(fmt.Sprint(u), "fail") {
			failed = append(failed, map[string]any{"url": u, "error": "Error fetching the page"})
			continue
		}
		results = append(results, map[string]any{"url": u, "raw_content": c.makeContent("the page"), "images": []any{}})
	}
	c.writeAnswer(ceilDivide(len(results), 5)*c.depthCost(), map[string]any{"results": results, "failed_results": failed})
}

func (c *call) listPages() []string {
	out := []string{}
	for i := range min(c.numberField("limit", 50), 3) {
		out = append(out, fmt.Sprintf("%s/page-%d", strings.TrimRight(c.textField("url", ""), "/"), i+1))
	}
	return out
}

func (c *call) mapCredits(pages int) int64 {
	if c.textField("instructions", "") != "" {
		return 2 * ceilDivide(pages, 10)
	}
	return ceilDivide(pages, 10)
}

func (c *call) answerMap() {
	pages := c.listPages()
	c.writeAnswer(c.mapCredits(len(pages)), map[string]any{"base_url": c.textField("url", ""), "results": pages})
}

func (c *call) answerCrawl() {
	pages := c.listPages()
	results := []any{}
	for _, p := range pages {
		results = append(results, map[string]any{"url": p, "raw_content": c.makeContent("the page")})
	}
	credits := c.mapCredits(len(pages)) + ceilDivide(len(pages), 5)*c.depthCost()
	c.writeAnswer(credits, map[string]any{"base_url": c.textField("url", ""), "results": results})
}

// task is a research; it is pending at the first question for it and completed from the second on.
type task struct {
	asked   int
	input   string
	created string
}

func (c *call) answerResearch() {
	if c.flagField("stream") {
		c.streamResearch()
		return
	}
	id, input := c.server.newID(), c.textField("input", "")
	created := time.Now().UTC().Format(time.RFC3339)
	c.server.mu.Lock()
	c.server.research[id] = &task{input: input, created: created}
	c.server.mu.Unlock()
	c.server.chargeKey(c.key, 50)
	writeJSON(c.w, http.StatusCreated, map[string]any{
		"request_id": id, "created_at": created, "status": "pending", "input": input,
		"model": c.textField("model", "auto"), "response_time": 0.1,
	})
}

func (s *Server) researchResult(w http.ResponseWriter, id string) {
	s.mu.Lock()
	t := s.research[id]
	asked := 0
	if t != nil {
		t.asked++
		asked = t.asked
	}
	s.mu.Unlock()
	switch {
	case t == nil:
		writeError(w, http.StatusNotFound, "Research task not found")
	case asked == 1:
		writeJSON(w, http.StatusAccepted, map[string]any{"request_id": id, "status": "in_progress", "response_time": 0.1})
	default:
		writeJSON(w, http.StatusOK, map[string]any{
			"request_id": id, "created_at": t.created, "status": "completed", "content": "# Report\n\nOn " + t.input,
			"sources":       []any{map[string]any{"title": "Source", "url": "https://example.org/1", "favicon": ""}},
			"response_time": 1.2,
		})
	}
}

func (s *Server) answerUsage(w http.ResponseWriter, key string) {
	s.mu.Lock()
	used := s.credits[key]
	s.mu.Unlock()
	writeJSON(w, http.StatusOK, map[string]any{
		"key": map[string]any{"usage": used, "limit": 1000, "search_usage": used},
		"account": map[string]any{
			"current_plan": "Researcher", "plan_usage": used, "plan_limit": 1000, "paygo_usage": 0, "paygo_limit": nil,
		},
	})
}
