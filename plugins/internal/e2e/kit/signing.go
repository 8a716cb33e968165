package kit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// SigningSecret is that of the receiver.
const SigningSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// VerifySignature is the receiver's side of Standard Webhooks.
func VerifySignature(header http.Header, body []byte) error {
	at, err := strconv.ParseInt(header.Get("webhook-timestamp"), 10, 64)
	if err != nil || time.Since(time.Unix(at, 0)).Abs() > 5*time.Minute {
		return fmt.Errorf("timestamp %q: %v", header.Get("webhook-timestamp"), err)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(SigningSecret, "whsec_"))
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.%s", header.Get("webhook-id"), at, body)
	for signature := range strings.FieldsSeq(header.Get("webhook-signature")) {
		raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(signature, "v1,"))
		if err == nil && hmac.Equal(raw, mac.Sum(nil)) {
			return nil
		}
	}
	return errors.New("no signature is right")
}
