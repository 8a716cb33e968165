package search

import (
	"time"

	searchv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/search/v1"
	sharedv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/shared/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

const (
	headerType  = "Content-Type"
	headerRetry = "Retry-After"
)

func (r *Request) toProto() *searchv1.InvokeRequest {
	out := &searchv1.InvokeRequest{Operation: r.Operation, ResourceId: r.ResourceID, Query: r.Query, RequestId: r.RequestID}
	if r.Credential != "" {
		out.Credential = &sharedv1.Secret{Value: []byte(r.Credential.Reveal())}
	}
	return out
}

func requestFrom(p *searchv1.InvokeRequest, body []byte) *Request {
	return &Request{
		Operation: p.GetOperation(), ResourceID: p.GetResourceId(), Query: p.GetQuery(), RequestID: p.GetRequestId(),
		Credential: schema.Secret(p.GetCredential().GetValue()), Body: body,
	}
}

func (h *Head) toProto() *searchv1.Head {
	out := &searchv1.Head{
		HttpStatus: int32(h.Status), ResourceId: h.ResourceID, UpstreamUs: h.Upstream.Microseconds(), Key: h.Key.toProto(),
	}
	if h.ContentType != "" {
		out.Headers = append(out.Headers, &sharedv1.Header{Name: headerType, Value: h.ContentType})
	}
	if h.RetryAfter != "" {
		out.Headers = append(out.Headers, &sharedv1.Header{Name: headerRetry, Value: h.RetryAfter})
	}
	if h.Usage != nil {
		out.Credits, out.CreditsKnown = h.Usage.Credits, true
	}
	return out
}

func headFrom(p *searchv1.Head) Head {
	out := Head{
		Status: int(p.GetHttpStatus()), ResourceID: p.GetResourceId(), Key: verdictFrom(p.GetKey()),
		Upstream: time.Duration(p.GetUpstreamUs()) * time.Microsecond, Usage: usageFrom(p),
	}
	for _, h := range p.GetHeaders() {
		switch h.GetName() {
		case headerType:
			out.ContentType = h.GetValue()
		case headerRetry:
			out.RetryAfter = h.GetValue()
		}
	}
	return out
}

func usageFrom(p *searchv1.Head) *Usage {
	if !p.GetCreditsKnown() {
		return nil
	}
	return &Usage{Credits: max(0, p.GetCredits())}
}

func (v KeyVerdict) toProto() *searchv1.KeyVerdict {
	if v.State == KeyUnknown {
		return nil
	}
	return &searchv1.KeyVerdict{State: searchv1.KeyState(v.State), RetryAfterMs: v.RetryAfter.Milliseconds(), Reason: v.Reason}
}

func verdictFrom(p *searchv1.KeyVerdict) KeyVerdict {
	return KeyVerdict{State: KeyState(p.GetState()), RetryAfter: time.Duration(p.GetRetryAfterMs()) * time.Millisecond, Reason: p.GetReason()}
}

func (s *KeyStatus) toProto() *searchv1.KeyStatusResponse {
	out := &searchv1.KeyStatusResponse{Key: s.Key.toProto(), Plan: s.Plan, Used: s.Used, Limit: s.Limit}
	if !s.ResetsAt.IsZero() {
		out.ResetsAtUnix = s.ResetsAt.Unix()
	}
	return out
}

func statusFrom(p *searchv1.KeyStatusResponse) *KeyStatus {
	out := &KeyStatus{Key: verdictFrom(p.GetKey()), Plan: p.GetPlan(), Used: p.GetUsed(), Limit: p.GetLimit()}
	if p.GetResetsAtUnix() != 0 {
		out.ResetsAt = time.Unix(p.GetResetsAtUnix(), 0).UTC()
	}
	return out
}

func (o Operation) toProto() *searchv1.Operation {
	out := &searchv1.Operation{
		Name: o.Name, Title: o.Title, Description: o.Description, InputSchema: o.InputSchema, Stream: o.Stream,
		Required: o.Required, TimeoutMs: o.Timeout.Milliseconds(), Tool: o.Tool, Price: &searchv1.Price{},
	}
	for _, t := range o.Price {
		term := &searchv1.PriceTerm{CountField: t.CountField, DefaultCount: t.DefaultCount, Unit: t.Unit, Rate: t.Rate}
		for _, c := range t.Cases {
			term.Cases = append(term.Cases, &searchv1.PriceCase{Field: c.Field, Equals: c.Equals, Rate: c.Rate})
		}
		out.Price.Terms = append(out.Price.Terms, term)
	}
	return out
}

func operationFrom(p *searchv1.Operation) Operation {
	out := Operation{
		Name: p.GetName(), Title: p.GetTitle(), Description: p.GetDescription(), InputSchema: p.GetInputSchema(),
		Stream: p.GetStream(), Required: p.GetRequired(), Timeout: time.Duration(p.GetTimeoutMs()) * time.Millisecond, Tool: p.GetTool(),
	}
	for _, t := range p.GetPrice().GetTerms() {
		term := PriceTerm{CountField: t.GetCountField(), DefaultCount: t.GetDefaultCount(), Unit: t.GetUnit(), Rate: t.GetRate()}
		for _, c := range t.GetCases() {
			term.Cases = append(term.Cases, PriceCase{Field: c.GetField(), Equals: c.GetEquals(), Rate: c.GetRate()})
		}
		out.Price = append(out.Price, term)
	}
	return out
}
