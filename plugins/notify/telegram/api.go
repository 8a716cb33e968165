package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	sharedv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/shared/v1"
)

const (
	maxAnswer = 1 << 20
	// maxWait is the longest wait that an answer may ask for.
	maxWait = 24 * time.Hour
	// maxWords is how much of the API's own words goes into an error, in bytes.
	maxWords = 300
	fileName = "patchbay-notification.png"
)

// answer is what the API answers, also with an error.
type answer struct {
	OK          bool   `json:"ok"`
	Code        int    `json:"error_code"`
	Description string `json:"description"`
	Result      struct {
		MessageID int64 `json:"message_id"`
	} `json:"result"`
	Parameters struct {
		MigrateTo  int64 `json:"migrate_to_chat_id"`
		RetryAfter int64 `json:"retry_after"`
	} `json:"parameters"`
}

// failure is a request that did not succeed. Final means that another form of the same notification would fare no better;
// markup, that the API did not understand the HTML.
type failure struct {
	err           *errs.Error
	final, markup bool
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// sendPhoto uploads an image with a caption and returns the message's id.
func (c *channel) sendPhoto(ctx context.Context, to recipient, image []byte, caption string) (string, *failure) {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	fields := [][2]string{{"chat_id", to.chat}, {"caption", caption}, {"parse_mode", "HTML"}}
	if c.cfg.Silent {
		fields = append(fields, [2]string{"disable_notification", "true"})
	}
	for _, f := range fields {
		_ = w.WriteField(f[0], f[1])
	}
	file, _ := w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="photo"; filename="` + fileName + `"`}, "Content-Type": {"image/png"},
	})
	_, _ = file.Write(image)
	_ = w.Close()
	return c.callMethod(ctx, to, "sendPhoto", w.FormDataContentType(), body.Bytes())
}

// text is a request of sendMessage.
type text struct {
	ChatID    string         `json:"chat_id"`
	Text      string         `json:"text"`
	ParseMode string         `json:"parse_mode,omitempty"`
	Silent    bool           `json:"disable_notification,omitempty"`
	Preview   previewOptions `json:"link_preview_options"`
}

type previewOptions struct {
	Disabled bool `json:"is_disabled"`
}

// sendMessage sends a text and returns its id. mode is HTML, or empty for plain text.
func (c *channel) sendMessage(ctx context.Context, to recipient, s, mode string) (string, *failure) {
	body, err := json.Marshal(text{ChatID: to.chat, Text: s, ParseMode: mode, Silent: c.cfg.Silent, Preview: previewOptions{Disabled: true}})
	if err != nil {
		return "", &failure{err: errs.BadInput("INVALID_NOTIFICATION", "the text cannot be written as JSON"), final: true}
	}
	return c.callMethod(ctx, to, "sendMessage", "application/json", body)
}

// callMethod posts one request. The token is part of the address, which therefore stands in no error.
func (c *channel) callMethod(ctx context.Context, to recipient, method, contentType string, body []byte) (string, *failure) {
	var sent atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	res, err := c.http.Do(traced, &httpx.Request{
		Method: http.MethodPost, URL: c.http.Endpoint("/bot" + to.token.Reveal() + "/" + method),
		Header: http.Header{"Content-Type": {contentType}}, Body: body,
	})
	if err != nil {
		return "", c.noAnswer(ctx, to, err, sent.Load())
	}
	var a answer
	if json.Unmarshal(res.Body, &a) != nil {
		a = answer{}
	}
	c.log.Debug("called the API", "method", method, "status", res.Status, "message", a.Result.MessageID)
	switch {
	case a.OK && a.Result.MessageID != 0:
		return strconv.FormatInt(a.Result.MessageID, 10), nil
	case a.OK || a.Code == 0 && res.Status < 300:
		return "", &failure{err: notify.Unknown("%s: the answer is not that of the API", c.host)}
	}
	if a.Code == 0 {
		a.Code = res.Status
	}
	return "", c.toFailure(to, &a)
}

// noAnswer returns the failure of a request without an answer. sent reports whether some of it was written.
func (c *channel) noAnswer(ctx context.Context, to recipient, err error, sent bool) *failure {
	e := errs.From(err)
	_, why, _ := strings.Cut(e.Message, ": ")
	switch {
	case ctx.Err() != nil:
		return &failure{err: notify.Unknown("%s: the call ended before the answer came", c.host), final: true}
	case e.Source != errs.Upstream:
		return &failure{err: errs.New(e.Source, e.Code, e.Reason, "%s: %s", c.host, cleanText(e.Message, to)), final: true}
	case !sent:
		return &failure{err: notify.Temporary(0, errs.ReasonConnect, "%s: %s", c.host, cleanText(why, to)), final: true}
	}
	return &failure{err: notify.Unknown("%s: %s", c.host, cleanText(why, to))}
}

// toFailure returns the failure that an error of the API means.
func (c *channel) toFailure(to recipient, a *answer) *failure {
	words := cleanText(a.Description, to)
	if words == "" {
		words = http.StatusText(a.Code)
	}
	f := &failure{err: notify.Permanent(errs.ReasonStatus, "%s answered %d: %s", c.host, a.Code, words)}
	lower := strings.ToLower(words)
	switch {
	case a.Code == http.StatusUnauthorized, a.Code == http.StatusNotFound && !strings.Contains(lower, "chat"):
		f = &failure{err: notify.Permanent("TOKEN_INVALID", "%s answered %d: the bot token is not valid", c.host, a.Code), final: true}
	case a.Code == http.StatusTooManyRequests:
		f = &failure{err: notify.Temporary(c.retryDelay(a), errs.ReasonStatus, "%s answered %d: %s", c.host, a.Code, words), final: true}
	case a.Parameters.MigrateTo != 0:
		f.err.Message, f.final = fmt.Sprintf("%s answered %d: the group has become a supergroup; its chat id is now %d", c.host, a.Code,
			a.Parameters.MigrateTo), true
	case a.Code == http.StatusForbidden, strings.Contains(lower, "chat not found"):
		f.final = true
	case a.Code >= 500:
		f.err = notify.Temporary(c.retryDelay(a), errs.ReasonStatus, "%s answered %d: %s", c.host, a.Code, words)
	case strings.Contains(lower, "can't parse entities"):
		f.markup = true
	}
	f.err.Upstream = &sharedv1.UpstreamError{HttpStatus: int32(a.Code), Host: c.host}
	return f
}

// retryDelay returns how long the API wants to be left alone.
func (c *channel) retryDelay(a *answer) time.Duration {
	return min(time.Duration(min(max(a.Parameters.RetryAfter, 0), int64(maxWait/time.Second)))*time.Second, maxWait)
}

// cleanText makes words from outside fit for an error: one line, bounded, without the token.
func cleanText(s string, to recipient) string {
	s = strings.ReplaceAll(s, to.token.Reveal(), "(token)")
	return texts.Truncate(texts.OneLine(strings.ToValidUTF8(s, "")), maxWords)
}

// shortReason returns a failure in a few words, for a warning.
func shortReason(err error) string {
	var e *errs.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}
