package webtest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
)

// Send makes a request and returns the answer with its body, read whole. The body is nil for none, a string, or a value
// that is sent as JSON. The header is names and values in turn.
func Send(t testing.TB, method, url string, body any, header ...string) (*http.Response, []byte) {
	t.Helper()
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(b)
	default:
		raw, err := json.Marshal(body)
		testkit.Must(t, err)
		in = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, url, in)
	testkit.Must(t, err)
	for pair := range slices.Chunk(header, 2) {
		req.Header.Add(pair[0], pair[1])
	}
	resp, err := http.DefaultClient.Do(req)
	testkit.Must(t, err)
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	testkit.Must(t, err)
	return resp, raw
}

// SendJSON is Send of a body, if there is one, that is JSON unless the header has another Content-Type.
func SendJSON(t testing.TB, method, url string, body any, header ...string) (*http.Response, []byte) {
	t.Helper()
	if body != nil && body != "" && !slices.Contains(header, "Content-Type") {
		header = append([]string{"Content-Type", "application/json"}, header...)
	}
	return Send(t, method, url, body, header...)
}
