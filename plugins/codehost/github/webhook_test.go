package github_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

const aDigest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func delivery(event, body string) codehost.Delivery {
	return codehost.Delivery{Event: event, Signature: githubtest.Sign(secret, []byte(body)), Body: []byte(body), Secret: secret}
}

func deliveries() []conformance.CodeHostDelivery {
	event := codehost.EventPackage
	published := codehost.Webhook{
		Event: event, Action: "published", Owner: "Team", FullName: "Team/App", Package: "app", PackageType: "container", Tags: []string{"1.2"},
		Digest: aDigest,
	}
	return []conformance.CodeHostDelivery{
		{Delivery: delivery(event, string(githubtest.Published("Team/App", "app", "1.2", aDigest, true))), Want: &published},
		{Delivery: delivery(event, string(githubtest.Published("Team/App", "app", "1.2", aDigest, false))), Want: &published},
		{Delivery: delivery("ping", `{"zen":"x","hook_id":1}`), Want: &codehost.Webhook{Event: "ping"}},
		{Delivery: delivery(event, `{}`), Want: &codehost.Webhook{Event: event}},
		{
			Delivery: delivery(event, `{"action":"updated","sender":{"login":"me"},"package":{"name":"a","package_type":"npm","repository":{"full_name":"me/a"},"package_version":{"version":"2.0"}}}`),
			Want: &codehost.Webhook{Event: event, Action: "updated", Owner: "me", FullName: "me/a", Package: "a", PackageType: "npm",
				Tags: []string{"2.0"}},
		},
		{
			Delivery: delivery(event, `{"package":{"package_version":{"version":"`+aDigest+`","container_metadata":{"tag":{"name":"","digest":""}}}}}`),
			Want:     &codehost.Webhook{Event: event, Digest: aDigest},
		},
		{
			Delivery: delivery(event, `{"package":{"package_version":{"version":"`+aDigest+`","container_metadata":{"tag":["a","b"]}}}}`),
			Want:     &codehost.Webhook{Event: event, Tags: []string{"a", "b"}, Digest: aDigest},
		},
		{
			Delivery: delivery(event, `{"package":null,"repository":null,"organization":null}`),
			Want:     &codehost.Webhook{Event: event},
		},
		{Delivery: delivery(event, `payload=%7B%7D`), Reason: codehost.ReasonInvalidPayload},
		{Delivery: delivery(event, ``), Reason: codehost.ReasonInvalidPayload},
		{Delivery: delivery(event, `null`), Reason: codehost.ReasonInvalidPayload},
		{Delivery: delivery(event, `[]`), Reason: codehost.ReasonInvalidPayload},
		{Delivery: delivery(event, `{"action":7}`), Reason: codehost.ReasonInvalidPayload},
		{Delivery: delivery(event, `{"action":"published"`), Reason: codehost.ReasonInvalidPayload},
	}
}

// The signature is checked over the bytes that came: the same object written in another way is refused.
func TestSignatureIsOverTheBytes(t *testing.T) {
	c := client(t, `{}`)
	body := `{"action":"published","repository":{"full_name":"a/b"}}`
	good := githubtest.Sign(secret, []byte(body))
	for name, d := range map[string]codehost.Delivery{
		"space":        {Signature: good, Body: []byte(strings.Replace(body, ":", ": ", 1)), Secret: secret},
		"break":        {Signature: good, Body: []byte(body + "\n"), Secret: secret},
		"upper prefix": {Signature: strings.Replace(good, "sha256", "SHA256", 1), Body: []byte(body), Secret: secret},
		"no prefix":    {Signature: strings.TrimPrefix(good, "sha256="), Body: []byte(body), Secret: secret},
		"longer":       {Signature: good + "00", Body: []byte(body), Secret: secret},
		"other secret": {Signature: good, Body: []byte(body), Secret: schema.Secret("x" + secret)},
		"no secret":    {Signature: githubtest.Sign("", []byte(body)), Body: []byte(body)},
	} {
		d.Event = codehost.EventPackage
		_, err := c.ParseWebhook(t.Context(), d)
		if e := errs.From(err); e == nil || e.Reason != codehost.ReasonInvalidSignature || strings.Contains(fmt.Sprint(err), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := c.ParseWebhook(t.Context(), delivery(codehost.EventPackage, body)); err != nil {
		t.Error(err)
	}
}
