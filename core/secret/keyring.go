// Package secret seals what must be read again, hashes what must only be recognised, and keeps both out of logs.
//
// Sealed values are AES-256-GCM with a random nonce, bound to the table, row and column in which they stand, and carry
// the id of their key, so that keys can be rotated.
package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/lists"
)

// KeySize is the length of a master key in bytes.
const KeySize = 32

// sealVersion begins every sealed value.
const sealVersion = "v1"

// ErrSealed is in the chain of every error of Open.
var ErrSealed = errors.New("the sealed value cannot be opened")

// Keyring holds the master keys: the first one seals, all of them open. It prints as its key ids, never as keys.
type Keyring struct {
	keys    []key
	observe func(plain string)
}

type key struct {
	id   string
	aead cipher.AEAD
}

// NewKeyring makes a keyring of raw keys of KeySize bytes each; the first seals.
func NewKeyring(raw ...[]byte) (*Keyring, error) {
	if len(raw) == 0 {
		return nil, errors.New("make a keyring: no key")
	}
	ring := &Keyring{observe: func(string) {}}
	for i, r := range raw {
		if len(r) != KeySize {
			return nil, fmt.Errorf("make a keyring: key %d has %d bytes, want %d", i+1, len(r), KeySize)
		}
		block, err := aes.NewCipher(r)
		if err != nil {
			return nil, fmt.Errorf("make a keyring: %w", err)
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, fmt.Errorf("make a keyring: %w", err)
		}
		ring.keys = append(ring.keys, key{id: keyID(r), aead: aead})
	}
	return ring, nil
}

// keyID names a key without telling it.
func keyID(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:4])
}

// Observe has f called with each value that is sealed or opened from now on. It must be called before the keyring is
// shared; f is called by several goroutines.
func (k *Keyring) Observe(f func(plain string)) { k.observe = f }

// KeyID is the id of the key that seals: 8 hexadecimal digits.
func (k *Keyring) KeyID() string { return k.keys[0].id }

// HasKey reports whether a key with an id is loaded.
func (k *Keyring) HasKey(id string) bool {
	return slices.ContainsFunc(k.keys, func(have key) bool { return have.id == id })
}

// String lists the key ids.
func (k *Keyring) String() string {
	ids := lists.ConvertAll(k.keys, func(k key) string { return k.id })
	return "keyring(" + strings.Join(ids, " ") + ")"
}

// GoString is String, so that no format prints the keys.
func (k *Keyring) GoString() string { return k.String() }

// Seal encrypts plain for one place in the database. The result is "v1:<key id>:<base64 of nonce and ciphertext>".
func (k *Keyring) Seal(plain []byte, table, row, column string) string {
	k.observe(string(plain))
	first := k.keys[0]
	nonce := make([]byte, first.aead.NonceSize(), first.aead.NonceSize()+len(plain)+first.aead.Overhead())
	_, _ = rand.Read(nonce) // never fails
	box := first.aead.Seal(nonce, nonce, plain, encodeContext(table, row, column))
	return sealVersion + ":" + first.id + ":" + base64.StdEncoding.EncodeToString(box)
}

// Open decrypts what Seal made for the same place. Every error has ErrSealed in its chain, says which key is missing if
// that is the reason, and shows nothing of the content.
func (k *Keyring) Open(sealed, table, row, column string) ([]byte, error) {
	id, box, err := splitSealed(sealed)
	if err != nil {
		return nil, fmt.Errorf("open %s.%s: %w", table, column, err)
	}
	for _, candidate := range k.keys {
		if candidate.id != id {
			continue
		}
		size := candidate.aead.NonceSize()
		if len(box) < size {
			return nil, fmt.Errorf("open %s.%s: %w: it is cut short", table, column, ErrSealed)
		}
		plain, err := candidate.aead.Open(nil, box[:size], box[size:], encodeContext(table, row, column))
		if err != nil {
			return nil, fmt.Errorf("open %s.%s: %w: it was changed, or belongs to another row", table, column, ErrSealed)
		}
		k.observe(string(plain))
		return plain, nil
	}
	return nil, fmt.Errorf("open %s.%s: %w: it was sealed with the master key %s, which is not loaded; add that key to SVC_SECRET_KEY", table,
		column, ErrSealed, id)
}

// Current reports whether a sealed value was made with the present key. Others should be sealed again.
func (k *Keyring) Current(sealed string) bool {
	id, _, err := splitSealed(sealed)
	return err == nil && id == k.KeyID()
}

// splitSealed returns the parts of a sealed value.
func splitSealed(sealed string) (id string, box []byte, err error) {
	parts := strings.Split(sealed, ":")
	if len(parts) != 3 || parts[0] != sealVersion || !isKeyID(parts[1]) {
		return "", nil, fmt.Errorf("%w: it has an unknown form", ErrSealed)
	}
	box, err = base64.StdEncoding.DecodeString(parts[2])
	if err != nil {
		return "", nil, fmt.Errorf("%w: it is not base64", ErrSealed)
	}
	return parts[1], box, nil
}

func isKeyID(s string) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && len(raw) == 4
}

// encodeContext returns the additional data that binds a value to its table, column and row. Each part has its length.
func encodeContext(parts ...string) []byte {
	var out []byte
	for _, p := range parts {
		out = binary.BigEndian.AppendUint32(out, uint32(len(p)))
		out = append(out, p...)
	}
	return out
}
