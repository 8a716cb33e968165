package api

import (
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

// Body is the body of every error, as the document shows it. Some codes come with members of their own.
type Body struct {
	_          struct{} `additionalProperties:"true"`
	Code       string   `json:"code" example:"not_found" doc:"Stable name of the kind of error, in lower snake case."`
	Message    string   `json:"message" example:"There is no such access token." doc:"One sentence for a person."`
	RequestID  string   `json:"request_id" example:"req_01K9ZS5T9W1V6Q0P9A8E7C6B5D" doc:"Id of the request, as in the header X-Request-Id and in the log."`
	Field      string   `json:"field,omitempty" example:"note" doc:"The parameter or member that the error is about."`
	RetryAfter int64    `json:"retry_after,omitempty" doc:"Seconds after which it may be tried again."`

	status int
}

// Error and GetStatus let huma take the shape of errors from this type.
func (b *Body) Error() string { return b.Message }

// GetStatus implements huma.StatusError.
func (b *Body) GetStatus() int { return b.status }

// problem is an error on its way to the error writer of a service.
type problem struct {
	c   *gin.Context
	api *API
	err error
}

// Error implements error.
func (p *problem) Error() string { return p.err.Error() }

// Unwrap gives the chain to errors.Is.
func (p *problem) Unwrap() error { return p.err }

// GetStatus implements huma.StatusError.
func (p *problem) GetStatus() int { return fault.StatusOf(p.err) }

func (p *problem) writeProblem() {
	if p.api == nil {
		httpd.WriteError(p.c, p.err)
		return
	}
	p.api.cfg.Errors(p.c, p.err)
}

var installing sync.Once

// installErrors replaces huma's functions that make errors, which are global variables, so that its errors become faults.
func installErrors() {
	installing.Do(func() {
		huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, errs ...error) huma.StatusError {
			c := humagin.Unwrap(ctx)
			api, _ := c.MustGet(keyAPI).(*API)
			return &problem{c: c, api: api, err: newFault(api, status, msg, errs)}
		}
		huma.NewError = func(status int, msg string, _ ...error) huma.StatusError { return &Body{Code: msg, status: status} }
	})
}

// newFault returns the first finding of huma's validation as a fault that names its field.
func newFault(a *API, status int, msg string, errs []error) error {
	if status >= http.StatusInternalServerError {
		return fault.New(fault.Internal, "Something went wrong on our side.")
	}
	code := fault.InvalidRequest
	if a != nil && a.cfg.Invalid != "" {
		code = a.cfg.Invalid
	}
	for _, err := range errs {
		d, ok := err.(huma.ErrorDetailer)
		if !ok {
			continue
		}
		detail := d.ErrorDetail()
		field := cutField(detail.Location)
		if field == "" {
			field = fieldOfNumber(detail.Message)
			if field != "" {
				return fault.New(code, "The value of %q is not valid: the number is too large or not a whole number.", field).With("field", field)
			}
			return fault.New(code, "%s", asSentence("The body is not valid: "+detail.Message))
		}
		return fault.New(code, "%s", asSentence("The value of \""+field+"\" is not valid: "+detail.Message)).With("field", field)
	}
	if len(errs) > 0 && errs[0] != nil && msg == "" {
		msg = errs[0].Error()
	}
	return fault.New(code, "%s", asSentence(msg))
}

// numberError is how encoding/json complains of a number that does not fit the type of a member.
var numberError = regexp.MustCompile(`cannot unmarshal number \S+ into Go struct field (?:[^.\s]*\.)?(\S+) of type`)

// fieldOfNumber returns the member in an error of encoding/json about a number, or "".
func fieldOfNumber(message string) string {
	if m := numberError.FindStringSubmatch(message); m != nil {
		return m[1]
	}
	return ""
}

// cutField is the member or parameter without the part of the request that it stands in.
func cutField(location string) string {
	_, field, _ := strings.Cut(location, ".")
	return field
}

func asSentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return "The request is not valid."
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}
