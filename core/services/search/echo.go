package search

import (
	"bytes"
	"io"
	"strings"

	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// An upstream may echo the key that it was shown, in an error most of all. No client may see it.

// withoutKey returns body with the upstream key of the call replaced; body itself if the key is not in it.
func (a *attempt) withoutKey(body []byte) []byte {
	key := []byte(a.key.Reveal())
	if len(key) == 0 || !bytes.Contains(body, key) {
		return body
	}
	return bytes.ReplaceAll(body, key, []byte(secret.Redacted))
}

// headWithoutKey clears the texts of a head that hold the upstream key.
func (a *attempt) headWithoutKey(h sdk.Head) sdk.Head {
	key := a.key.Reveal()
	if key == "" {
		return h
	}
	for _, text := range []*string{&h.ContentType, &h.RetryAfter, &h.ResourceID} {
		if strings.Contains(*text, key) {
			*text = ""
		}
	}
	return h
}

// keyCutter is a stream that removes a key, also where the key is split between two chunks: the end of a chunk that
// may be the beginning of the key is held until the next chunk.
type keyCutter struct {
	client.SearchStream
	key  []byte
	held []byte
}

func withoutKey(st client.SearchStream, key schema.Secret) client.SearchStream {
	if key == "" {
		return st
	}
	return &keyCutter{SearchStream: st, key: []byte(key.Reveal())}
}

// Next implements client.SearchStream.
func (k *keyCutter) Next() ([]byte, error) {
	for {
		p, err := k.SearchStream.Next()
		if err == io.EOF && len(k.held) > 0 {
			p, k.held = k.held, nil
			return p, nil
		}
		if err != nil {
			return nil, err
		}
		if len(k.held) > 0 {
			p = append(k.held, p...)
			k.held = nil
		}
		if bytes.Contains(p, k.key) {
			p = bytes.ReplaceAll(p, k.key, []byte(secret.Redacted))
		}
		if n := overlapLength(p, k.key); n > 0 {
			k.held = bytes.Clone(p[len(p)-n:])
			p = p[:len(p)-n]
		}
		if len(p) > 0 {
			return p, nil
		}
	}
}

// overlapLength returns the length of the longest proper prefix of key that p ends with.
func overlapLength(p, key []byte) int {
	for n := min(len(p), len(key)-1); n > 0; n-- {
		if bytes.HasSuffix(p, key[:n]) {
			return n
		}
	}
	return 0
}
