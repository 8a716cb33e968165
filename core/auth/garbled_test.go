package auth_test

import (
	"encoding/base64"
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/passkeytest"
)

// TestGarbledAnswers: no answer of a browser, however it is damaged, gets in, makes a panic, or counts as our fault.
func TestGarbledAnswers(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	u := open(t, func() time.Time { return now })
	c := able(t, publicURL)
	_, p := enter(t, u)
	a := passkeytest.New(t, "patchbay.example.com", publicURL)
	_, err := register(t, u, p, c, a, "")
	must(t, err)
	rapid.Check(t, func(r *rapid.T) {
		now = now.Add(time.Minute)
		making := rapid.Bool().Draw(r, "making")
		var raw []byte
		if making {
			p.CheckedAt = now.UnixMilli()
			options, err := u.Passkeys.BeginRegistration(t.Context(), p, c, "")
			must(t, err)
			raw = passkeytest.New(t, "patchbay.example.com", publicURL).Create(t, options)
		} else {
			options, err := u.Passkeys.BeginLogin(t.Context(), c, client)
			must(t, err)
			raw = a.Get(t, options)
		}
		raw = garble(r, t, raw, making)
		if making {
			_, err = u.Passkeys.FinishRegistration(t.Context(), p, c, raw)
		} else {
			_, _, err = u.Passkeys.FinishLogin(t.Context(), c, raw, client)
		}
		if status := fault.StatusOf(err); err == nil || status >= 500 || status < 400 {
			r.Fatalf("got %v for %s", err, raw)
		}
	})
}

// garble changes bytes of one of the signed parts, or cuts it off.
func garble(r *rapid.T, t *testing.T, raw []byte, making bool) []byte {
	var answer map[string]any
	must(t, json.Unmarshal(raw, &answer))
	parts := []string{"authenticatorData", "signature", "clientDataJSON"}
	if making {
		// Without an attestation nothing of it is signed, so that some changes are none that matter: it is cut off instead.
		parts = []string{"clientDataJSON", "attestationObject"}
	}
	part := rapid.SampledFrom(parts).Draw(r, "part")
	response := answer["response"].(map[string]any)
	bytes, err := base64.RawURLEncoding.DecodeString(response[part].(string))
	must(t, err)
	at := rapid.IntRange(0, len(bytes)-1).Draw(r, "at")
	if making || rapid.Bool().Draw(r, "cut") {
		bytes = bytes[:at]
	} else {
		bytes[at] ^= byte(rapid.IntRange(1, 255).Draw(r, "flip"))
	}
	response[part] = base64.RawURLEncoding.EncodeToString(bytes)
	out, err := json.Marshal(answer)
	must(t, err)
	return out
}
