package shoutrrr

import (
	"errors"
	"net/http"
	"reflect"
	"sync"
	"unsafe"

	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
)

var errElsewhere = errors.New("the service leads to another host or port, which gets nothing")

// checkRedirect lets a service lead on to its own host and port alone: what is sent holds tokens, and the address may be one of an inner
// network.
func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > 3 || !httpx.SameOrigin(via[0].URL, req.URL) {
		return errElsewhere
	}
	return nil
}

// guardDefaultClient bounds the redirects of the client that most services of the library share. This process is the plugin's own.
var guardDefaultClient = sync.OnceFunc(func() { http.DefaultClient.CheckRedirect = checkRedirect })

var clientType = reflect.TypeFor[*http.Client]()

// guardClients bounds the redirects of the clients that a service has made for itself. The library keeps most of them in fields that are
// not exported, and has no setting for this.
func guardClients(service types.Service) {
	guardFields(reflect.ValueOf(service), 3)
}

// guardFields looks for clients in the fields of a value, and of what they hold, to a depth.
func guardFields(v reflect.Value, depth int) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || depth == 0 || !v.CanAddr() {
		return
	}
	for i := range v.NumField() {
		field := v.Field(i)
		if field.Type() != clientType {
			guardFields(field, depth-1)
			continue
		}
		if client := *(**http.Client)(unsafe.Pointer(field.UnsafeAddr())); client != nil {
			client.CheckRedirect = checkRedirect
		}
	}
}
