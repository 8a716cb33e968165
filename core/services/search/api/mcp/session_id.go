package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// SessionLifetime is how long after its beginning a session can be used at most.
const SessionLifetime = 7 * 24 * time.Hour

// Shared is what the endpoints of all cores know together. Sessions and calls are named by hashes.
type Shared interface {
	// HasOthers reports whether sessions may go on, and be ended, at other cores.
	HasOthers() bool
	// End ends a session; until is when it would be over in any case.
	End(ctx context.Context, session string, until time.Time) error
	// IsEnded reports whether a session was ended.
	IsEnded(ctx context.Context, session string) (bool, error)
	// Cancel asks the other cores to cancel a call that does not run here.
	Cancel(session, call string)
}

// alone is the Shared of an endpoint that is the only one: its sessions know what has ended.
type alone struct{}

func (alone) HasOthers() bool                               { return false }
func (alone) End(context.Context, string, time.Time) error  { return nil }
func (alone) IsEnded(context.Context, string) (bool, error) { return false, nil }
func (alone) Cancel(string, string)                         {}

// sealID makes the id of a session: the version of the protocol, when it was made, and a seal on both that names the token.
func (c Config) sealID(token, version string, now time.Time) string {
	said := version + "~" + strconv.FormatInt(now.UnixMilli(), 36)
	return said + "~" + c.Keyring.Seal(nil, "mcp_sessions", said, token)
}

// openID returns the version of the protocol in the id of a token's session, or false for one that was not made with this master key, or
// is too old.
func (c Config) openID(id, token string) (version string, ok bool) {
	at := strings.LastIndexByte(id, '~')
	if at < 0 || len(id) > maxID {
		return "", false
	}
	version, made, found := strings.Cut(id[:at], "~")
	ms, err := strconv.ParseInt(made, 36, 64)
	if !found || err != nil || c.Now().Sub(time.UnixMilli(ms)) >= SessionLifetime {
		return "", false
	}
	_, err = c.Keyring.Open(id[at+1:], "mcp_sessions", id[:at], token)
	return version, err == nil
}

// maxID bounds the ids that are looked at, in bytes.
const maxID = 300

// hashID returns what others get to know an id by.
func hashID(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// DropEnded ends the sessions here that another core has ended, by their hashes.
func (e *Endpoint) DropEnded(sessions []string) { e.sessions.dropEnded(sessions) }

// CancelCall cancels a call that runs here, if there is one: the cancellation came to another core.
func (e *Endpoint) CancelCall(session, call string) { e.sessions.cancelHashed(session, call) }
