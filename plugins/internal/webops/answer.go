package webops

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

const typeJSON = "application/json"

// Refusal is what a caller did wrong; it becomes an answer with its status, 400 if that is 0.
type Refusal struct {
	Status int
	Err    error
}

// Error implements error.
func (e *Refusal) Error() string { return e.Err.Error() }

// BadRequest is a Refusal with status 400.
func BadRequest(err error) error { return &Refusal{Status: http.StatusBadRequest, Err: err} }

// Usage is the member of that name in an answer; it is there if the caller asked for it.
type Usage struct {
	Credits int `json:"credits"`
}

// Answer makes the response of an operation that returned out or an error.
func Answer(out any, err error, start time.Time) (*search.Response, error) {
	return encodeAnswer(http.StatusOK, out, err, start)
}

func encodeAnswer(status int, out any, err error, start time.Time) (*search.Response, error) {
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		status, out = refusal.Status, map[string]any{"detail": map[string]any{"error": refusal.Error()}}
		if status == 0 {
			status = http.StatusBadRequest
		}
	case err != nil:
		return nil, err
	}
	body, err := encodeJSON(out)
	if err != nil {
		return nil, err
	}
	return &search.Response{Body: body, Head: search.Head{
		Status: status, ContentType: typeJSON, Usage: &search.Usage{}, Upstream: time.Since(start),
	}}, nil
}

func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// AnswerID is the host's id of the request, or a new one.
func AnswerID(req *search.Request) string {
	if req.RequestID != "" {
		return req.RequestID
	}
	return rand.Text()
}

// Seconds is how long ago that was, as answers tell it.
func Seconds(since time.Time) float64 { return inSeconds(time.Since(since)) }

func inSeconds(d time.Duration) float64 {
	return float64(d.Round(time.Millisecond).Milliseconds()) / 1000
}

// problemText is the text of an error for whoever named the address.
func problemText(err error) string {
	var own *errs.Error
	if errors.As(err, &own) {
		return own.Message
	}
	return err.Error()
}
