package api_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
)

type limits struct {
	Day int64 `json:"credits_day" required:"false"`
}

type token struct {
	ID     string            `json:"id"`
	Owner  string            `json:"owner_id"`
	Uses   int64             `json:"uses"`
	Limits limits            `json:"limits"`
	Labels map[string]string `json:"labels"`
}

type tokenBody struct {
	Owner  string            `json:"owner_id" required:"false"`
	Limits *limits           `json:"limits" required:"false"`
	Labels map[string]string `json:"labels" required:"false"`
}

// TestUnknownMembers: bodies for users, tokens, keys and channels are refused for a member that nobody knows, at any depth; what GET
// answers may be put back. Other bodies stay tolerant.
func TestUnknownMembers(t *testing.T) {
	a := api.New(api.Config{Title: "T", Version: "1", BaseURL: "/t", Invalid: "invalid_argument"})
	type none struct{}
	take := func(context.Context, *struct{ Body tokenBody }) (*none, error) { return nil, nil }
	for _, path := range []string{"/tokens", "/api/users", "/things"} {
		api.Register(a, api.Operation{ID: "post" + path, Method: http.MethodPost, Path: path, Policy: httpd.Public}, take)
		api.Register(a, api.Operation{ID: "get" + path, Method: http.MethodGet, Path: path, Policy: httpd.Public},
			func(context.Context, *none) (*struct {
				Body struct {
					Items []token `json:"items"`
				}
			}, error) {
				return nil, nil
			})
	}
	s, err := httpd.Listen("127.0.0.1:0", "test", hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Mount([]httpd.Mount{{Service: "t", BaseURL: "/t", Routes: a.Routes()}}, httpd.Options{}); err != nil {
		t.Fatal(err)
	}
	s.Serve()
	t.Cleanup(func() { _ = s.Shutdown(context.Background()) })
	for _, tt := range []struct{ path, body, field string }{
		{"/tokens", `{"owner_id":"ann","limits":{"credits_day":1},"labels":{"any":"thing"}}`, ""},
		{"/tokens", `{"id":"x","uses":3,"owner_id":"ann"}`, ""},
		{"/tokens", `{"owner":"ann"}`, "owner"},
		{"/tokens", `{"limits":{"credit_day":1}}`, "limits.credit_day"},
		{"/api/users", `{"Owner_id":"ann"}`, "Owner_id"},
		{"/tokens", `{"limits":{"credits_day":99999999999999999999}}`, "limits.credits_day"},
		{"/things", `{"owner":"ann"}`, ""},
		{"/things", `{"limits":{"credits_day":99999999999999999999}}`, "limits.credits_day"},
	} {
		res, got := call(t, http.MethodPost, "http://"+s.Addr()+"/t"+tt.path, tt.body)
		field, _ := got["field"].(string)
		if (res.StatusCode == http.StatusBadRequest) != (tt.field != "") || field != tt.field {
			t.Errorf("%s %s: %d %v", tt.path, tt.body, res.StatusCode, got)
		}
	}
}
