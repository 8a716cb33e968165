// Package passkeytest is a virtual authenticator for tests: it makes passkeys and signs with them as a device and its browser
// do, and can be told to misbehave.
package passkeytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
)

// Authenticator holds one passkey. Its fields can be changed to misbehave.
type Authenticator struct {
	// RPID and Origin are what the browser says where it is.
	RPID, Origin string
	// Counter is the signature counter that is sent; it does not move by itself.
	Counter uint32
	// NoUV and NoUP leave user verification and user presence out.
	NoUV, NoUP bool
	// Handle is the user handle, known after Create; ID is the credential's, Key its private key.
	Handle, ID []byte
	Key        *ecdsa.PrivateKey
}

const (
	flagUP = 1 << iota
	_
	flagUV
	flagAT = 1 << 6
)

// New makes an authenticator with a fresh P-256 key.
func New(t testing.TB, rpID, origin string) *Authenticator {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	id := make([]byte, 32)
	_, _ = rand.Read(id)
	return &Authenticator{RPID: rpID, Origin: origin, Key: key, ID: id}
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (a *Authenticator) clientData(t testing.TB, kind, challenge string) []byte {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": a.Origin, "crossOrigin": false})
	must(t, err)
	return raw
}

func (a *Authenticator) authData(extra byte) []byte {
	flags := extra
	if !a.NoUP {
		flags |= flagUP
	}
	if !a.NoUV {
		flags |= flagUV
	}
	hash := sha256.Sum256([]byte(a.RPID))
	return binary.BigEndian.AppendUint32(append(hash[:], flags), a.Counter)
}

// Create is the answer of navigator.credentials.create to options, a value or JSON.
func (a *Authenticator) Create(t testing.TB, options any) []byte {
	t.Helper()
	var o struct {
		Challenge string `json:"challenge"`
		User      struct {
			ID string `json:"id"`
		} `json:"user"`
	}
	remarshal(t, options, &o)
	var err error
	a.Handle, err = base64.RawURLEncoding.DecodeString(o.User.ID)
	must(t, err)
	point, err := a.Key.PublicKey.Bytes()
	must(t, err)
	cose, err := cbor.Marshal(map[int]any{1: 2, 3: -7, -1: 1, -2: point[1:33], -3: point[33:]})
	must(t, err)
	data := append(a.authData(flagAT), make([]byte, 16)...)
	data = binary.BigEndian.AppendUint16(data, uint16(len(a.ID)))
	data = append(append(data, a.ID...), cose...)
	object, err := cbor.Marshal(map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": data})
	must(t, err)
	raw, err := json.Marshal(map[string]any{
		"id": b64(a.ID), "rawId": b64(a.ID), "type": "public-key", "clientExtensionResults": map[string]any{},
		"response": map[string]any{"clientDataJSON": b64(a.clientData(t, "webauthn.create", o.Challenge)), "attestationObject": b64(object),
			"transports": []string{"internal"}},
	})
	must(t, err)
	return raw
}

// Get is the answer of navigator.credentials.get to options, a value or JSON.
func (a *Authenticator) Get(t testing.TB, options any) []byte {
	t.Helper()
	var o struct {
		Challenge string `json:"challenge"`
	}
	remarshal(t, options, &o)
	client, data := a.clientData(t, "webauthn.get", o.Challenge), a.authData(0)
	hash := sha256.Sum256(client)
	digest := sha256.Sum256(append(append([]byte{}, data...), hash[:]...))
	sig, err := ecdsa.SignASN1(rand.Reader, a.Key, digest[:])
	must(t, err)
	raw, err := json.Marshal(map[string]any{
		"id": b64(a.ID), "rawId": b64(a.ID), "type": "public-key", "clientExtensionResults": map[string]any{},
		"response": map[string]any{"clientDataJSON": b64(client), "authenticatorData": b64(data), "signature": b64(sig),
			"userHandle": b64(a.Handle)},
	})
	must(t, err)
	return raw
}

func remarshal(t testing.TB, in, out any) {
	t.Helper()
	raw, err := json.Marshal(in)
	must(t, err)
	must(t, json.Unmarshal(raw, out))
}

var must = testkit.Must
