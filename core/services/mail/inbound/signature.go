package inbound

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
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
	HeaderTimestamp     = "X-Patchbay-Timestamp"
	HeaderSignature     = "X-Patchbay-Signature"
	HeaderEnvelopeFrom  = "X-Patchbay-Envelope-From"
	HeaderEnvelopeTo    = "X-Patchbay-Envelope-To"
	HeaderContentSHA256 = "X-Patchbay-Content-SHA256"
	HeaderDelivery      = "X-Patchbay-Delivery"
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
		return "", fault.New(fault.InvalidArgument, "%s must hold at most %d visible ASCII characters.", HeaderDelivery,
			maxDeliveryID).With("field", HeaderDelivery)
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

// CheckSignature returns an error unless a request is signed with the secret. The signature is the HMAC-SHA256, in hexadecimal digits, of
// four lines without an end of line after the last: the timestamp, the sender and the recipients of the envelope as their headers have
// them, and the SHA-256 of the body. It is checked before any of the body is read.
func CheckSignature(secret string, header http.Header, now time.Time) error {
	for _, name := range []string{HeaderTimestamp, HeaderEnvelopeFrom, HeaderEnvelopeTo, HeaderContentSHA256, HeaderSignature} {
		if len(header.Values(name)) > 1 {
			return errSignature(name + " must not come twice.")
		}
	}
	timestamp := header.Get(HeaderTimestamp)
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return errSignature(HeaderTimestamp + " must hold the time in Unix seconds.")
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > maxSkew || age < -maxSkew {
		return errSignature(HeaderTimestamp + " is more than five minutes away from the time of the server.")
	}
	if _, err := hexDigest(header, HeaderContentSHA256); err != nil {
		return err
	}
	sent, err := hexDigest(header, HeaderSignature)
	if err != nil {
		return err
	}
	want := hmac.New(sha256.New, []byte(secret))
	_, _ = io.WriteString(want, strings.Join([]string{timestamp, header.Get(HeaderEnvelopeFrom), header.Get(HeaderEnvelopeTo),
		header.Get(HeaderContentSHA256)}, "\n"))
	if !hmac.Equal(want.Sum(nil), sent) {
		return errSignature("The signature is not that of timestamp, envelope and content hash with the secret of the service.")
	}
	return nil
}

// hexDigest returns the SHA-256 that a header holds.
func hexDigest(header http.Header, name string) ([]byte, error) {
	digest, err := hex.DecodeString(header.Get(name))
	if err != nil || len(digest) != sha256.Size {
		return nil, errSignature(name + " must hold 64 hexadecimal digits.")
	}
	return digest, nil
}

// ReadSigned reads the body of a request whose signature was checked, and compares it with the hash that was signed.
func ReadSigned(header http.Header, body io.Reader, spoolDir string) (*message.Content, error) {
	want, err := hexDigest(header, HeaderContentSHA256)
	if err != nil {
		return nil, err
	}
	digest := sha256.New()
	content, err := message.ReadContent(io.TeeReader(body, digest), spoolDir)
	if err != nil {
		return nil, err
	}
	if !hmac.Equal(digest.Sum(nil), want) {
		_ = content.Close()
		return nil, errSignature("The body does not have the SHA-256 of " + HeaderContentSHA256 + ".")
	}
	return content, nil
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
