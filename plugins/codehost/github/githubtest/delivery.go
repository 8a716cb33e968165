package githubtest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// Sign is the value of X-Hub-Signature-256 for a body.
func Sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// Published is the body of a delivery of the event "package" with the action "published": a tag of a repository's
// container package was pushed. org tells whether the owner is an organisation.
func Published(fullName, name, tag, digest string, org bool) []byte {
	owner, repo, _ := strings.Cut(fullName, "/")
	account := map[string]any{"login": owner, "id": 7, "type": "User"}
	repository := map[string]any{"id": 8, "name": repo, "full_name": fullName, "private": false, "owner": account}
	body := map[string]any{
		"action": "published",
		"package": map[string]any{
			"id": 9, "name": name, "namespace": owner, "ecosystem": "CONTAINER", "package_type": "CONTAINER", "owner": account,
			"package_version": map[string]any{
				"id": 10, "version": digest, "name": digest,
				"container_metadata": map[string]any{"tag": map[string]any{"name": tag, "digest": digest}, "labels": map[string]any{},
					"manifest": map[string]any{}},
			},
		},
		"repository": repository,
		"sender":     map[string]any{"login": "pusher", "id": 11, "type": "User"},
	}
	if org {
		body["organization"] = map[string]any{"login": owner, "id": 7}
	}
	raw, _ := json.Marshal(body)
	return raw
}
