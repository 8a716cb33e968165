package account

import (
	"encoding/json"
	"testing"

	"github.com/patchbay-dev/patchbay/core/auth"
)

// TestTimesInJSON fixes the bytes of what clients read: times are RFC 3339 in UTC with three decimals, and null where there
// is none.
func TestTimesInJSON(t *testing.T) {
	const at = 1767323045006
	user := auth.User{ID: "usr_1", Email: "ann@example.com", Name: "Ann", Role: auth.Admin, CreatedAt: at, UpdatedAt: at}
	for name, tt := range map[string]struct {
		value any
		want  string
	}{
		"user": {newUser(user),
			`{"id":"usr_1","email":"ann@example.com","name":"Ann","role":"admin","disabled":false,"createdAt":"2026-01-02T03:04:05.006Z","updatedAt":"2026-01-02T03:04:05.006Z"}`},
		"key": {newKey(auth.Key{ID: "key_1", Name: "CI", CreatedAt: at, ExpiresAt: at + 1000}),
			`{"id":"key_1","name":"CI","prefix":"","maskedKey":"","scopes":[],"createdAt":"2026-01-02T03:04:05.006Z","expiresAt":"2026-01-02T03:04:06.006Z","lastUsedAt":null,"revokedAt":null}`},
		"summary of a key": {newKeySummary(auth.Key{ID: "key_1", Name: "CI", CreatedAt: at, LastUsedAt: at}, ""),
			`{"id":"key_1","name":"CI","api_key":null,"masked_key":"","created_at":"2026-01-02T03:04:05.006Z","last_used_at":"2026-01-02T03:04:05.006Z"}`},
		"passkey": {newPasskey(auth.Passkey{ID: "pk_1", Name: "Laptop", CreatedAt: at, LastUsedAt: at}),
			`{"id":"pk_1","name":"Laptop","rpId":"","deviceType":"singleDevice","backedUp":false,"createdAt":"2026-01-02T03:04:05.006Z","lastUsedAt":"2026-01-02T03:04:05.006Z","revokedAt":null}`},
		"session": {newSession(&auth.Principal{User: user, Via: auth.ViaKey, Since: at}),
			`{"user":{"id":"usr_1","email":"ann@example.com","name":"Ann","role":"admin"},"authenticatedAt":"2026-01-02T03:04:05.006Z","via":"api_key","sessionId":null,"scopes":[],"canReveal":false}`},
		"event": {newEvent(&auth.Event{ID: "evt_1", At: at, Action: "session.begin", Result: "ok", Via: auth.ViaKey}),
			`{"id":"evt_1","at":"2026-01-02T03:04:05.006Z","action":"session.begin","result":"ok","actorId":null,"actorName":"","via":"api_key","address":"","targetId":null,"targetName":"","userId":null,"detail":"","requestId":null}`},
	} {
		got, err := json.Marshal(tt.value)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %s, %v\nwant %s", name, got, err, tt.want)
		}
	}
}
