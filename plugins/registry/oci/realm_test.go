package oci_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// naming starts a registry that names a token server, and returns its host. It takes the token "good".
func naming(t *testing.T, realm string) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer good" {
			w.Header().Set("Www-Authenticate", fmt.Sprintf(`Bearer realm=%q,service="s"`, realm))
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{"name":"app","tags":["1"]}`)
	}))
	t.Cleanup(srv.Close)
	return strings.TrimPrefix(srv.URL, "http://")
}

func listTags(t *testing.T, config, host string) error {
	t.Helper()
	_, err := client(t, config).Tags(t.Context(), registry.TagsRequest{Repository: host + "/app", Limit: 10})
	return err
}

// A registry cannot have the plugin ask servers in inner networks.
func TestInnerRealmsAreRefused(t *testing.T) {
	for _, realm := range []string{
		"http://10.0.0.1/token", "https://192.168.1.1:8443/token", "http://169.254.169.254/latest/meta-data", "http://[fe80::1]/",
		"http://100.64.0.1/", "http://0.0.0.0/",
	} {
		err := listTags(t, `{"allow_hosts":["172.16.0.0/12"]}`, naming(t, realm))
		if e := errs.From(err); e == nil || e.Source != errs.Upstream || e.Code != codes.FailedPrecondition || e.Reason != httpx.ReasonRefused ||
			!strings.Contains(e.Message, "allow_hosts") {
			t.Errorf("%s: %v", realm, err)
		}
	}
}

// A token server on a private address is asked if the configuration names it, or the registry is on the same host.
func TestPermittedRealms(t *testing.T) {
	l, err := net.Listen("tcp", net.JoinHostPort(ownAddress(t), "0"))
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	tokens := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = io.WriteString(w, `{"token":"good"}`)
	})}}
	tokens.Start()
	t.Cleanup(tokens.Close)
	addr := l.Addr().String()
	host := naming(t, "http://"+addr+"/token")
	if err := listTags(t, `{}`, host); err == nil || asked.Load() != 0 {
		t.Errorf("without a permission: %v, asked %d times", err, asked.Load())
	}
	for _, config := range []string{
		fmt.Sprintf(`{"allow_hosts":[%q]}`, addr), `{"allow_hosts":["0.0.0.0/0"]}`, fmt.Sprintf(`{"hosts":[%q,%q]}`, host, addr),
		fmt.Sprintf(`{"insecure":[%q]}`, addr),
	} {
		if err := listTags(t, config, host); err != nil {
			t.Errorf("%s: %v", config, err)
		}
	}
	_, port, _ := net.SplitHostPort(naming(t, ""))
	if err := listTags(t, `{}`, naming(t, "http://localhost:"+port+"/token")); err == nil || errs.From(err).Reason == httpx.ReasonRefused {
		t.Errorf("on the same host: %v", err)
	}
}

// ownAddress is a private IPv4 address of the machine that is not loopback.
func ownAddress(t *testing.T) string {
	t.Helper()
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsPrivate() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	testkit.Require(t, "a private address besides loopback", false, "connect the machine to a network")
	return ""
}
