package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	sharedv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/shared/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// api makes requests for chat completions.
type api struct {
	http   *httpx.Client
	url    *url.URL
	header http.Header
	secret schema.Secret
}

// chatRequest is a request for a chat completion.
type chatRequest struct {
	Model               string          `json:"model"`
	Messages            []message       `json:"messages"`
	Temperature         *float64        `json:"temperature,omitempty"`
	MaxTokens           int64           `json:"max_tokens,omitempty"`
	MaxCompletionTokens int64           `json:"max_completion_tokens,omitempty"`
	ResponseFormat      *responseFormat `json:"response_format,omitempty"`
	Stream              bool            `json:"stream"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type responseFormat struct {
	Type       string      `json:"type"`
	JSONSchema *jsonSchema `json:"json_schema,omitempty"`
}

type jsonSchema struct {
	Name   string          `json:"name"`
	Strict bool            `json:"strict"`
	Schema json.RawMessage `json:"schema"`
}

// chatReply is the answer.
type chatReply struct {
	Choices []choice `json:"choices"`
	Usage   struct {
		PromptTokens     int64 `json:"prompt_tokens"`
		CompletionTokens int64 `json:"completion_tokens"`
	} `json:"usage"`
}

type choice struct {
	Message struct {
		Content string `json:"content"`
		Refusal string `json:"refusal"`
	} `json:"message"`
	// Delta is what an event of a stream adds.
	Delta struct {
		Content string `json:"content"`
	} `json:"delta"`
	FinishReason string `json:"finish_reason"`
}

// apiError is the body of a refusal.
type apiError struct {
	Error struct {
		Message string `json:"message"`
		Type    string `json:"type"`
		Param   string `json:"param"`
		Code    any    `json:"code"`
	} `json:"error"`
}

// refusedError is a refusal with what the server says of it, by which a request may be changed to what it accepts.
type refusedError struct {
	err    *errs.Error
	status int
	text   string
}

// Error implements error.
func (e *refusedError) Error() string { return e.err.Error() }

// Unwrap returns the error in the words of the kind.
func (e *refusedError) Unwrap() error { return e.err }

// requestCompletion makes one request. Its error is an *errs.Error, or a *refusedError around one.
func (a *api) requestCompletion(ctx context.Context, in chatRequest) (*chatReply, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	req := &httpx.Request{Method: http.MethodPost, URL: a.url, Header: a.header, Body: raw}
	res, err := a.http.Do(ctx, req)
	if err != nil {
		return nil, err
	}
	if res.Status != http.StatusOK {
		return nil, a.refusalError(res)
	}
	var out chatReply
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		err = joinEvents(res.Body, &out)
	} else {
		err = json.Unmarshal(res.Body, &out)
	}
	if err != nil || len(out.Choices) == 0 {
		return nil, translator.Temporary(errs.ReasonProtocol, "%s: the answer cannot be read", a.url.Host)
	}
	return &out, nil
}

// joinEvents reads the events of a stream, which some gateways send although none was asked for.
func joinEvents(body []byte, out *chatReply) error {
	var whole choice
	for line := range bytes.Lines(body) {
		data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
		if data = bytes.TrimSpace(data); !ok || bytes.Equal(data, []byte("[DONE]")) {
			continue
		}
		var event chatReply
		if err := json.Unmarshal(data, &event); err != nil {
			return err
		}
		if event.Usage.PromptTokens > 0 {
			out.Usage = event.Usage
		}
		if len(event.Choices) > 0 {
			whole.Message.Content += event.Choices[0].Delta.Content
			whole.FinishReason = cmp.Or(event.Choices[0].FinishReason, whole.FinishReason)
			out.Choices = []choice{whole}
		}
	}
	return nil
}

// maxSaid is how much of the server's own words goes into an error, in bytes.
const maxSaid = 300

// refusalError returns the error of an answer without success.
func (a *api) refusalError(res *httpx.Response) error {
	var body apiError
	_ = json.Unmarshal(res.Body, &body)
	said := body.Error.Message
	if a.secret != "" {
		said = strings.ReplaceAll(said, a.secret.Reveal(), schema.Redacted)
	}
	said = texts.Truncate(texts.OneLine(texts.Printable(said)), maxSaid)
	code, _ := body.Error.Code.(string)
	words := strings.ToLower(code + " " + body.Error.Type + " " + body.Error.Param + " " + said)
	e := classifyStatus(res, words)
	e.Message = a.url.Host + ": status " + strconv.Itoa(res.Status)
	if said != "" {
		e.Message += ": " + said
	}
	e.Upstream = &sharedv1.UpstreamError{HttpStatus: int32(res.Status), Host: a.url.Host}
	return &refusedError{e, res.Status, words}
}

// classifyStatus returns the error that a status means. words are what the server says, in lower case.
func classifyStatus(res *httpx.Response, words string) *errs.Error {
	says := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(words, p) {
				return true
			}
		}
		return false
	}
	switch {
	case res.Status == http.StatusPaymentRequired,
		says("insufficient_quota", "billing", "insufficient balance", "exceeded your current quota"):
		return translator.QuotaExhausted("")
	case res.Status == http.StatusTooManyRequests:
		return translator.RateLimited(readPause(res.Header), "")
	case res.Status == http.StatusUnauthorized:
		return translator.Denied("")
	case res.Status == http.StatusForbidden:
		e := translator.Denied("")
		e.Code = codes.PermissionDenied
		return e
	case res.Status == http.StatusRequestTimeout, res.Status == http.StatusConflict, res.Status == http.StatusTooEarly, res.Status >= 500:
		e := translator.Temporary(errs.ReasonStatus, "")
		e.RetryAfter = httpx.RetryAfter(res.Header.Get("Retry-After"), time.Now())
		return e
	case res.Status >= 300 && res.Status < 400:
		return translator.Temporary(errs.ReasonProtocol, "")
	}
	return translator.Refused("")
}

// defaultPause is when to try again after a 429 that does not say it.
const defaultPause = 20 * time.Second

// readPause returns how long to wait after a 429.
func readPause(h http.Header) time.Duration {
	if ms := h.Get("Retry-After-Ms"); ms != "" {
		if d, err := time.ParseDuration(ms + "ms"); err == nil && d > 0 {
			return min(d, httpx.MaxRetryAfter)
		}
	}
	if d := httpx.RetryAfter(h.Get("Retry-After"), time.Now()); d > 0 {
		return d
	}
	return defaultPause
}
