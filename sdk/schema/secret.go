package schema

import (
	"fmt"
	"io"
)

// Redacted is what is shown in place of a secret.
const Redacted = "[redacted]"

// Secret is a string that no format, log or encoder shows. It is read from a JSON string like any other.
type Secret string

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return string(s) }

// String returns Redacted.
func (s Secret) String() string { return Redacted }

// GoString returns Redacted.
func (s Secret) GoString() string { return Redacted }

// Format writes Redacted for every verb and flag.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Redacted) }

// MarshalText returns Redacted, so that JSON and other encodings do not carry the secret.
func (s Secret) MarshalText() ([]byte, error) { return []byte(Redacted), nil }
