package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const secretPrefix = "whsec_"

// Bounds of a signing key, in bytes.
const (
	minKey = 24
	maxKey = 64
)

// parseSecret reads a secret in the form of the specification.
func parseSecret(s string) ([]byte, error) {
	text, ok := strings.CutPrefix(s, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(key) < minKey || len(key) > maxKey {
		return nil, errors.New("must be whsec_ and 24 to 64 bytes in base64")
	}
	return key, nil
}

// signRequest sets the headers of the specification. Several keys give several signatures, of which a receiver needs to know one.
func signRequest(header http.Header, keys [][]byte, id string, at time.Time, body []byte) {
	stamp := strconv.FormatInt(at.Unix(), 10)
	header["Webhook-Id"] = []string{id}
	header["Webhook-Timestamp"] = []string{stamp}
	if len(keys) == 0 {
		return
	}
	var all []string
	for _, key := range keys {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + stamp + "."))
		mac.Write(body)
		all = append(all, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	header["Webhook-Signature"] = []string{strings.Join(all, " ")}
}
