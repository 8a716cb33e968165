package search

import (
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
)

// streamed asks for a streamed research and tells whether the answer came to its end, and that its row has ended too.
func (e *env) streamed(token string) (whole bool, body string) {
	e.Helper()
	if e.base == "" {
		e.listen()
	}
	req, err := http.NewRequest(http.MethodPost, e.base+"/search/api/proxy/research", strings.NewReader(`{"input":"a","stream":true}`))
	if err != nil {
		e.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err == nil {
		var raw []byte
		raw, err = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		body = string(raw)
	}
	testkit.Eventually(e, 5*time.Second, func() bool { return e.used(e.svc, idOf(token)).Reserved == 0 }, "the reservation is given back")
	return err == nil, body
}
