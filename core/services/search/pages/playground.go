package pages

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
	"github.com/patchbay-dev/patchbay/core/texts"
)

// input is a field of the form, made from a member of an operation's JSON Schema.
type input struct {
	Name, Title, Text string
	// Kind is text, number, checkbox, choice or list (one value a line).
	Kind     string
	Choices  []string
	Required bool
	Value    string
}

// isShown reports whether a field stands on the page at once; the others are folded away.
func (in input) isShown() bool {
	switch in.Name {
	case "max_results", "topic", "limit":
		return true
	}
	return in.Required || in.Value != ""
}

type playView struct {
	Tokens     []access.AuthToken
	Token      string
	Operations []proxy.Operation
	Operation  string
	Inputs     []input
	// Raw is a body written by hand, in place of the form.
	Raw    string
	Answer *proxy.TrialAnswer
	// Size is that of the answer, in bytes.
	Size  int
	Error *fault.Error
	Hits  []hit
}

// hit is one result of an answer, as far as it has the members that search results have.
type hit struct{ Title, URL, Text, Score string }

// formInputs are the fields of an operation. Members that are objects, or arrays of them, are left to the raw body.
func formInputs(op proxy.Operation) (out []input) {
	var s struct {
		Properties map[string]struct {
			Type        any             `json:"type"`
			Description string          `json:"description"`
			Enum        []any           `json:"enum"`
			Items       json.RawMessage `json:"items"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if json.Unmarshal([]byte(op.InputSchema), &s) != nil {
		return nil
	}
	required := append(slices.Clone(op.Required), s.Required...)
	for name, p := range s.Properties {
		in := input{Name: name, Text: p.Description, Required: slices.Contains(required, name)}
		switch p.Type {
		case "string":
			in.Kind = "text"
		case "integer", "number":
			in.Kind = "number"
		case "boolean":
			in.Kind = "checkbox"
		case "array":
			in.Kind = "list"
		default:
			continue
		}
		for _, e := range p.Enum {
			if text, ok := e.(string); ok {
				in.Kind, in.Choices = "choice", append(in.Choices, text)
			}
		}
		if name != "stream" {
			out = append(out, in)
		}
	}
	slices.SortFunc(out, func(a, b input) int {
		if a.Required != b.Required {
			if a.Required {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

// formBody makes the JSON of a form that was sent; what is empty is left out.
func formBody(c *gin.Context, inputs []input) []byte {
	out := map[string]any{}
	for i := range inputs {
		in := &inputs[i]
		in.Value = c.PostForm("f." + in.Name)
		text := strings.TrimSpace(in.Value)
		if text == "" {
			continue
		}
		switch in.Kind {
		case "number":
			out[in.Name] = json.RawMessage(text)
			if !json.Valid([]byte(text)) {
				out[in.Name] = text
			}
		case "checkbox":
			out[in.Name] = true
		case "list":
			out[in.Name] = slices.Collect(trimmedLines(text))
		default:
			out[in.Name] = text
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(out) != nil {
		return []byte("{}")
	}
	return bytes.TrimSpace(b.Bytes())
}

func trimmedLines(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && !yield(line) {
				return
			}
		}
	}
}

// playView prepares the page for the operation and the token that the caller names.
func (p pages) playView(c *gin.Context, operation, token string) (playView, error) {
	out := playView{Operations: p.service.Operations(), Operation: operation, Token: token}
	var err error
	if out.Tokens, err = p.visibleTokens(c.Request.Context()); err != nil {
		return out, err
	}
	if out.Operation == "" && slices.ContainsFunc(out.Operations, func(o proxy.Operation) bool { return o.Name == proxy.OpSearch }) {
		out.Operation = proxy.OpSearch
	}
	i := slices.IndexFunc(out.Operations, func(o proxy.Operation) bool { return o.Name == out.Operation })
	if i < 0 {
		return out, fault.New(fault.NotFound, "No backend offers this operation.")
	}
	out.Inputs = formInputs(out.Operations[i])
	return out, nil
}

func (p pages) showPlayground(c *gin.Context) {
	play, err := p.playView(c, c.Query("operation"), c.Query("token"))
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	var result playResult
	if p.takeResult(c, p.base+"/playground", &result) {
		play.showResult(result)
	}
	v := p.newView(c, "search.playground.title")
	p.kit.Render(c, v, http.StatusOK, playPage(v, p, play))
}

// playCall makes the call. The page that follows shows what came of it, beside what was sent.
func (p pages) playCall(c *gin.Context) {
	ctx := c.Request.Context()
	play, err := p.playView(c, c.PostForm("operation"), c.PostForm("token"))
	if err == nil && play.Token != "" {
		_, err = p.ownToken(ctx, play.Token)
	}
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	raw := formBody(c, play.Inputs)
	if play.Raw = strings.TrimSpace(c.PostForm("raw")); play.Raw != "" {
		raw = []byte(play.Raw)
	}
	answer, err := p.service.Try(ctx, proxy.Trial{TokenID: play.Token, Operation: play.Operation, Body: raw, RequestID: httpd.RequestID(c),
		Client: httpd.ClientAddr(c)})
	if err != nil {
		play.Error = fault.As(err)
	} else {
		play.Answer, play.Hits = &answer, parseHits(answer.Body)
	}
	page := p.base + "/playground"
	p.showResult(c, page, ui.Address(page, "operation", play.Operation, "token", play.Token), play.keptResult())
}

// parseHits are the results of an answer.
func parseHits(raw []byte) (out []hit) {
	var a struct {
		Results []json.RawMessage `json:"results"`
	}
	if json.Unmarshal(raw, &a) != nil {
		return nil
	}
	for _, r := range a.Results {
		var h struct {
			Title, URL, Content string
			RawContent          string `json:"raw_content"`
			Score               *float64
		}
		if json.Unmarshal(r, &h) != nil || h.URL == "" {
			continue
		}
		one := hit{Title: h.Title, URL: h.URL, Text: texts.Truncate(h.Content+h.RawContent, 600)}
		if h.Score != nil {
			one.Score = strconv.FormatFloat(*h.Score, 'f', 3, 64)
		}
		out = append(out, one)
	}
	return out
}

// guideView is what the guide shows: snippets with the address of this service.
type guideView struct {
	URL    string
	Tokens []access.AuthToken
	Result *testResult
}

// testResult is what came of the connection test.
type testResult struct {
	OK     bool
	Status int
	Took   time.Duration
	Error  *fault.Error
}

func (p pages) showGuide(c *gin.Context) {
	tokens, err := p.visibleTokens(c.Request.Context())
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "search.guide.title")
	g := guideView{URL: v.ServiceURL(p.url, p.base), Tokens: tokens}
	if result := new(testResult); p.takeResult(c, p.base+"/guide", result) {
		g.Result = result
	}
	p.kit.Render(c, v, http.StatusOK, guidePage(v, p, g))
}

// testConnection makes the smallest search there is with one of the caller's tokens.
func (p pages) testConnection(c *gin.Context) {
	ctx := c.Request.Context()
	id := c.PostForm("token")
	if _, err := p.ownToken(ctx, id); err != nil {
		p.kit.Fail(c, err)
		return
	}
	began := time.Now()
	a, err := p.service.Try(ctx, proxy.Trial{
		TokenID: id, Operation: proxy.OpSearch, Body: []byte(`{"query":"patchbay","max_results":1}`), RequestID: httpd.RequestID(c),
		Client: httpd.ClientAddr(c),
	})
	r := &testResult{Status: a.Status, Took: time.Since(began), OK: err == nil && a.Status < 300}
	if err != nil {
		r.Error = fault.As(err)
		r.Status = fault.StatusOf(err)
	}
	p.showResult(c, p.base+"/guide", p.base+"/guide", r)
}
