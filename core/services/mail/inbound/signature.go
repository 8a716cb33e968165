package inbound

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
)

// The headers of a signed message.
const (
	HeaderTimestamp    = "X-Patchbay-Timestamp"
	HeaderSignature    = "X-Patchbay-Signature"
	HeaderEnvelopeFrom = "X-Patchbay-Envelope-From"
	HeaderEnvelopeTo   = "X-Patchbay-Envelope-To"
	HeaderDelivery     = "X-Patchbay-Delivery"
)

// maxDeliveryID is the longest id of a delivery, in bytes.
const maxDeliveryID = 200

// DeliveryID returns what tells a delivery from the others: what the sender calls it, else its signature.
func DeliveryID(header http.Header) (string, error) {
	id := header.Get(HeaderDelivery)
	if id == "" {
		return "signature " + strings.ToLower(header.Get(HeaderSignature)), nil
	}
	if len(id) > maxDeliveryID || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fault.New(fault.InvalidArgument, "%s must hold at most %d visible ASCII characters.", HeaderDelivery, maxDeliveryID).With("field", HeaderDelivery)
	}
	return "id " + id, nil
}

// maxSkew is how far the timestamp of a signed message may be from now.
const maxSkew = 5 * time.Minute

// codeSignature is the code of a request that is not signed as it should be.
const codeSignature fault.Code = "invalid_signature"

func errSignature(text string) error {
	return fault.New(codeSignature, "%s", text).WithStatus(http.StatusUnauthorized)
}

// ReadSigned reads the body of a signed message. The signature is the HMAC-SHA256, in hexadecimal digits, of the timestamp, a
// full stop and the body. It covers the envelope only through the secrecy of the way: the sender is trusted with all mailboxes.
func ReadSigned(secret string, header http.Header, body io.Reader, now time.Time, spoolDir string) (*message.Content, error) {
	timestamp := header.Get(HeaderTimestamp)
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return nil, errSignature(HeaderTimestamp + " must hold the time in Unix seconds.")
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > maxSkew || age < -maxSkew {
		return nil, errSignature(HeaderTimestamp + " is more than five minutes away from the time of the server.")
	}
	sent, err := hex.DecodeString(header.Get(HeaderSignature))
	if err != nil || len(sent) != sha256.Size {
		return nil, errSignature(HeaderSignature + " must hold 64 hexadecimal digits.")
	}
	digest := newSignature(secret, timestamp)
	content, err := message.ReadContent(io.TeeReader(body, digest), spoolDir)
	if err != nil {
		return nil, err
	}
	if !hmac.Equal(digest.Sum(nil), sent) {
		_ = content.Close()
		return nil, errSignature("The signature is not that of this body with the secret of the service.")
	}
	return content, nil
}

// newSignature returns a hash to which the body is written.
func newSignature(secret, timestamp string) hash.Hash {
	digest := hmac.New(sha256.New, []byte(secret))
	_, _ = io.WriteString(digest, timestamp+".")
	return digest
}

// encodedWord begins an address that is an encoded word of RFC 2047, in lower case: headers carry no more than ASCII.
const encodedWord = "=?utf-8?b?"

// DecodeAddress returns an address of a header of the envelope, which may be an encoded word in UTF-8 and base64. It fails for
// a word that cannot be decoded.
func DecodeAddress(text string) (string, error) {
	text = strings.TrimSpace(text)
	if len(text) < len(encodedWord) || !strings.EqualFold(text[:len(encodedWord)], encodedWord) {
		return text, nil
	}
	var words mime.WordDecoder
	return words.Decode(text)
}
