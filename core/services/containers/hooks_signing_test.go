package containers

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/patchbay-dev/patchbay/core/services/containers/webhook"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

func hookSign(secret, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// deliver sends a webhook that is signed as it should be.
func (e *hookEnv) deliver(id, body string) hookGot {
	e.Helper()
	return e.send(http.MethodPost, webhook.CallbackPath, body, webhook.HeaderSignature, hookSign(e.secret(), body), webhook.HeaderEvent,
		"package", webhook.HeaderDelivery, id)
}

// hookPublished is the body of a delivery in the format of the double.
func hookPublished(full, pkg string) string {
	owner, _, _ := strings.Cut(full, "/")
	raw, _ := json.Marshal(map[string]string{"action": "published", "owner": owner, "repo": full, "package": pkg})
	return string(raw)
}

// hookParse reads the deliveries of the double.
func hookParse(d codehost.Delivery) (*codehost.Webhook, error) {
	if d.Secret == "" || !hmac.Equal([]byte(d.Signature), []byte(hookSign(d.Secret.Reveal(), string(d.Body)))) {
		return nil, codehost.InvalidSignature("the signature is wrong")
	}
	var p *struct{ Action, Owner, Repo, Package string }
	if err := json.Unmarshal(d.Body, &p); err != nil || p == nil {
		return nil, codehost.InvalidPayload("no JSON object")
	}
	return &codehost.Webhook{Event: d.Event, Action: p.Action, Owner: p.Owner, FullName: p.Repo, Package: p.Package}, nil
}

// nothingLeaks looks for the secrets in all answers, in the log and in the tables.
func (e *hookEnv) nothingLeaks() {
	e.Helper()
	var stored []string
	for _, sql := range []string{
		"SELECT payload FROM jobs", "SELECT result FROM jobs", "SELECT data FROM job_events", "SELECT last_error FROM containers_repos",
		"SELECT value FROM containers_settings", "SELECT data FROM containers_delivery_events", "SELECT error_message FROM jobs",
	} {
		var rows []string
		if err := e.store.DB(context.Background()).Raw(sql).Scan(&rows).Error; err != nil {
			e.Fatal(sql, err)
		}
		stored = append(stored, rows...)
	}
	for _, s := range []schema.Secret{hookPAT, hookTrigger, schema.Secret(e.secret())} {
		for where, text := range map[string]string{"an answer": e.answers.String(), "the log": e.logs.String(),
			"a table": strings.Join(stored, "\n")} {
			if s != "" && strings.Contains(text, s.Reveal()) {
				e.Errorf("a secret stands in %s", where)
			}
		}
	}
}
