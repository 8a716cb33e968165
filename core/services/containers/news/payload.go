package news

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// payload is the JSON object of all kinds; the schemas say which of them has what.
type payload struct {
	Schema  string `json:"schema"`
	Kind    string `json:"kind"`
	SentAt  string `json:"sentAt"`
	Channel string `json:"channel,omitempty"`
	Title   string `json:"title,omitempty"`
	Body    string `json:"body,omitempty"`
	URL     string `json:"url,omitempty"`
	Human   human  `json:"human"`
	// Job and Check are as the kind has them.
	Job   json.RawMessage `json:"job,omitempty"`
	Check json.RawMessage `json:"check,omitempty"`
	Links *links          `json:"links,omitempty"`
	Debug debugPart       `json:"debug"`
}

type human struct {
	Title   string `json:"title"`
	Summary string `json:"summary"`
	Detail  string `json:"detail"`
}

type debugPart struct {
	Version    string `json:"version"`
	AppVersion string `json:"appVersion"`
	Source     string `json:"source"`

	RequestedChannel *string `json:"requestedChannel,omitempty"`
	RawMessage       *string `json:"rawMessage,omitempty"`
}

type links struct {
	PrimaryURL  string `json:"primaryUrl"`
	JobURL      string `json:"jobUrl"`
	SettingsURL string `json:"settingsUrl,omitempty"`
	// ServiceURLs holds values of serviceLink, Repos those of repoPart. At most one of both is there.
	ServiceURLs []json.RawMessage `json:"serviceUrls,omitzero"`
	Repos       []json.RawMessage `json:"repos,omitzero"`
	Truncated   truncated         `json:"truncated"`
}

type truncated struct {
	ServiceURLsOmitted *int `json:"serviceUrlsOmitted,omitempty"`
	ReposOmitted       *int `json:"reposOmitted,omitempty"`
}

type serviceLink struct {
	StackID     string `json:"stackId"`
	StackName   string `json:"stackName"`
	ServiceID   string `json:"serviceId"`
	ServiceName string `json:"serviceName"`
	URL         string `json:"url"`

	*versionPart
}

// versionPart has the tags as they are, and as people read them.
type versionPart struct {
	CurrentTag          string `json:"currentTag"`
	CandidateTag        string `json:"candidateTag"`
	CurrentDisplayTag   string `json:"currentDisplayTag"`
	CandidateDisplayTag string `json:"candidateDisplayTag"`
}

type repoPart struct {
	Owner     string `json:"owner"`
	Repo      string `json:"repo"`
	FullName  string `json:"fullName"`
	State     string `json:"state"`
	Status    string `json:"status"`
	LastError string `json:"lastError,omitempty"`
}

// finishMessage returns a message whose texts are written, with its payload.
func (w Writer) finishMessage(m notify.Message, p payload) (*notify.Message, error) {
	p.Schema, p.Kind, p.SentAt = m.Schema, m.Kind, store.FormatTime(w.Now)
	p.Human = human{Title: m.Title.Plain, Summary: m.Summary.Plain, Detail: m.Detail.Plain}
	p.Debug.Version, p.Debug.AppVersion, p.Debug.Source = cleanField(w.Version), cleanField(w.Version), cleanField(w.Source)
	raw, err := encodeJSON(p)
	if err != nil {
		return nil, err
	}
	m.Version, m.Payload = version, raw
	return &m, nil
}

func (w Writer) serviceLink(s Service, v *versionPart) serviceLink {
	return serviceLink{
		StackID: cleanField(s.StackID), StackName: cleanField(s.StackName), ServiceID: cleanField(s.ServiceID),
		ServiceName: cleanField(s.ServiceName),
		URL:         w.serviceURL(s), versionPart: v,
	}
}

// formatRFC3339 returns a time for machines, or "" for the zero time.
func formatRFC3339(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return store.FormatTime(t)
}

// encodeJSON returns v as JSON in which "->" is no escape sequence.
func encodeJSON(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a payload: %w", err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// encodeAll encodes each of all, of which there may be none.
func encodeAll[T any](all []T) ([]json.RawMessage, error) {
	out := make([]json.RawMessage, len(all))
	for i, v := range all {
		raw, err := encodeJSON(v)
		if err != nil {
			return nil, err
		}
		out[i] = raw
	}
	return out, nil
}

func decodePayload(raw json.RawMessage) (p payload, err error) {
	if err = json.Unmarshal(raw, &p); err != nil {
		return p, fmt.Errorf("decode a payload: %w", err)
	}
	return p, nil
}

// ForChannel returns the payload for one channel: with the member channel, and for Web Push (push) with title, body and url at
// the top level.
func ForChannel(raw json.RawMessage, channel string, push bool) (json.RawMessage, error) {
	p, err := decodePayload(raw)
	if err != nil {
		return nil, err
	}
	p.Channel = cleanField(channel)
	if push || channel == sdk.RoleWebPush {
		p.Title, p.Body = p.Human.Title, p.Human.Summary
		if p.Links != nil {
			p.URL = p.Links.PrimaryURL
		}
	}
	return encodeJSON(p)
}
