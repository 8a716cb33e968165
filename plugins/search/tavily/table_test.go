package tavily_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/searchapi"
	"github.com/patchbay-dev/patchbay/plugins/internal/searchapi/searchapitest"
	"github.com/patchbay-dev/patchbay/plugins/search/tavily"
)

// TestParametersArePassedOn: each value of each parameter of the table goes up as it came, also one that means nothing.
func TestParametersArePassedOn(t *testing.T) {
	var got string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		got = string(raw)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{}`)
	}))
	t.Cleanup(srv.Close)
	b := build(t, tavily.Config{BaseURL: srv.URL, Timeout: 5 * time.Second})
	t.Cleanup(func() { _ = b.(io.Closer).Close() })
	for _, op := range searchapi.Operations() {
		for _, p := range searchapi.Parameters(op) {
			for _, value := range append(searchapitest.Samples(p.Value), searchapitest.Bogus(p.Value)...) {
				body := fmt.Sprintf(`{ "x" : 1.50, %q :%s}`, p.Name, value)
				if _, err := b.Invoke(t.Context(), request(op, body)); err != nil {
					t.Fatalf("%s of %s: %v", body, op, err)
				}
				if want := strings.TrimSuffix(body, "}"); !strings.HasPrefix(got, want) && p.Name != "include_usage" {
					t.Errorf("%s of %s became %s", body, op, got)
				}
			}
		}
	}
}

// TestSchemasAreTheTable: the table has the parameters that the tools of the API have, with the same values.
func TestSchemasAreTheTable(t *testing.T) {
	for _, op := range tavily.Definition().Operations {
		if op.InputSchema == "" {
			continue
		}
		properties := searchapitest.Properties(t, op.InputSchema)
		for _, p := range searchapi.Parameters(op.Name) {
			property, there := properties[p.Name]
			delete(properties, p.Name)
			if there == p.Own {
				t.Errorf("%s of %s: in the schema is %t", p.Name, op.Name, there)
			}
			if there {
				property.Compare(t, op.Name, p)
			}
		}
		for name := range properties {
			t.Errorf("%s of %s is not in the table", name, op.Name)
		}
	}
}
