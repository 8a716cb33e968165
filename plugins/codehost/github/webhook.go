package github

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

const signaturePrefix = "sha256="

// hasValidSignature reports in constant time whether a signature belongs to a body and a secret.
func hasValidSignature(d codehost.Delivery) bool {
	text, ok := strings.CutPrefix(d.Signature, signaturePrefix)
	if !ok || len(text) != hex.EncodedLen(sha256.Size) || d.Secret == "" {
		return false
	}
	got, err := hex.DecodeString(text)
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, []byte(d.Secret.Reveal()))
	mac.Write(d.Body)
	return hmac.Equal(got, mac.Sum(nil))
}

// account is whoever owns or does something.
type account struct {
	Login string `json:"login"`
}

type payloadRepo struct {
	FullName string  `json:"full_name"`
	Owner    account `json:"owner"`
}

// payload is the part of a delivery that matters here.
type payload struct {
	Action       string      `json:"action"`
	Organization account     `json:"organization"`
	Sender       account     `json:"sender"`
	Repository   payloadRepo `json:"repository"`
	Package      struct {
		Name       string      `json:"name"`
		Type       string      `json:"package_type"`
		Repository payloadRepo `json:"repository"`
		Version    *version    `json:"package_version"`
	} `json:"package"`
}

type version struct {
	Version  string `json:"version"`
	Metadata struct {
		Tag json.RawMessage `json:"tag"`
	} `json:"container_metadata"`
}

// ParseWebhook implements codehost.CodeHost.
func (h *host) ParseWebhook(_ context.Context, d codehost.Delivery) (*codehost.Webhook, error) {
	if !hasValidSignature(d) {
		return nil, codehost.InvalidSignature("the signature does not belong to the body and the secret")
	}
	var p *payload
	if err := json.Unmarshal(d.Body, &p); err != nil || p == nil {
		return nil, codehost.InvalidPayload("the body is no JSON object of a delivery: the content type of the webhook must be application/json")
	}
	out := &codehost.Webhook{
		Event: d.Event, Action: p.Action,
		Owner:    firstNonEmpty(p.Organization.Login, p.Repository.Owner.Login, p.Sender.Login),
		FullName: firstNonEmpty(p.Repository.FullName, p.Package.Repository.FullName),
		Package:  p.Package.Name, PackageType: strings.ToLower(p.Package.Type),
	}
	if p.Package.Version != nil {
		out.Tags, out.Digest = p.Package.Version.tagsAndDigest()
	}
	return out, nil
}

// tagsAndDigest returns the tags and the digest of a version. A version of a container without a tag is called by its digest.
func (v *version) tagsAndDigest() (tags []string, digest string) {
	var tag struct{ Name, Digest string }
	var several []string
	switch {
	case json.Unmarshal(v.Metadata.Tag, &tag) == nil:
		digest = tag.Digest
		if tag.Name != "" {
			tags = []string{tag.Name}
		}
	case json.Unmarshal(v.Metadata.Tag, &several) == nil:
		tags = several
	}
	switch {
	case strings.HasPrefix(v.Version, "sha256:"):
		digest = firstNonEmpty(digest, v.Version)
	case v.Version != "" && len(tags) == 0:
		tags = []string{v.Version}
	}
	return tags, digest
}

func firstNonEmpty(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
