package auth_test

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
)

// authenticator makes passkeys and signs with them as a device and its browser do. Its fields can be set to misbehave.
type authenticator struct {
	rpID, origin string
	counter      uint32
	noUV, noUP   bool
	handle       []byte
	id           []byte
	key          *ecdsa.PrivateKey
}

const (
	flagUP = 1 << iota
	_
	flagUV
	flagAT = 1 << 6
)

func newAuthenticator(t *testing.T, rpID, origin string) *authenticator {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	id := make([]byte, 32)
	_, _ = rand.Read(id)
	return &authenticator{rpID: rpID, origin: origin, key: key, id: id}
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (a *authenticator) clientData(t *testing.T, kind, challenge string) []byte {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": a.origin, "crossOrigin": false})
	must(t, err)
	return raw
}

func (a *authenticator) authData(extra byte) []byte {
	flags := extra
	if !a.noUP {
		flags |= flagUP
	}
	if !a.noUV {
		flags |= flagUV
	}
	hash := sha256.Sum256([]byte(a.rpID))
	return binary.BigEndian.AppendUint32(append(hash[:], flags), a.counter)
}

// create is the answer of navigator.credentials.create to options.
func (a *authenticator) create(t *testing.T, options any) []byte {
	t.Helper()
	var o struct {
		Challenge string `json:"challenge"`
		User      struct {
			ID string `json:"id"`
		} `json:"user"`
	}
	remarshal(t, options, &o)
	var err error
	a.handle, err = base64.RawURLEncoding.DecodeString(o.User.ID)
	must(t, err)
	point, err := a.key.PublicKey.Bytes()
	must(t, err)
	cose, err := cbor.Marshal(map[int]any{1: 2, 3: -7, -1: 1, -2: point[1:33], -3: point[33:]})
	must(t, err)
	data := append(a.authData(flagAT), make([]byte, 16)...)
	data = binary.BigEndian.AppendUint16(data, uint16(len(a.id)))
	data = append(append(data, a.id...), cose...)
	object, err := cbor.Marshal(map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": data})
	must(t, err)
	raw, err := json.Marshal(map[string]any{
		"id": b64(a.id), "rawId": b64(a.id), "type": "public-key", "clientExtensionResults": map[string]any{},
		"response": map[string]any{"clientDataJSON": b64(a.clientData(t, "webauthn.create", o.Challenge)), "attestationObject": b64(object), "transports": []string{"internal"}},
	})
	must(t, err)
	return raw
}

// get is the answer of navigator.credentials.get to options.
func (a *authenticator) get(t *testing.T, options any) []byte {
	t.Helper()
	var o struct {
		Challenge string `json:"challenge"`
	}
	remarshal(t, options, &o)
	client, data := a.clientData(t, "webauthn.get", o.Challenge), a.authData(0)
	hash := sha256.Sum256(client)
	digest := sha256.Sum256(append(append([]byte{}, data...), hash[:]...))
	sig, err := ecdsa.SignASN1(rand.Reader, a.key, digest[:])
	must(t, err)
	raw, err := json.Marshal(map[string]any{
		"id": b64(a.id), "rawId": b64(a.id), "type": "public-key", "clientExtensionResults": map[string]any{},
		"response": map[string]any{"clientDataJSON": b64(client), "authenticatorData": b64(data), "signature": b64(sig), "userHandle": b64(a.handle)},
	})
	must(t, err)
	return raw
}

func remarshal(t *testing.T, in, out any) {
	t.Helper()
	raw, err := json.Marshal(in)
	must(t, err)
	must(t, json.Unmarshal(raw, out))
}
