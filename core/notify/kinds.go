package notify

import (
	"cmp"
	"slices"

	"github.com/patchbay-dev/patchbay/core/texts/locale"
)

// Kind is a kind of notification.
type Kind struct {
	// Service sends it. Name is the event within the service, such as "pool_empty".
	Service, Name string
	Severity      Severity
	// Texts has the words of alerts; nil for a service that writes its messages itself.
	Texts func() *locale.Texts
}

var kinds []*Kind

// RegisterKind adds a kind to Kinds and returns it. It is called while packages are initialised.
func RegisterKind(k Kind) *Kind {
	kinds = append(kinds, &k)
	return &k
}

// Kinds returns the kinds of all services whose packages are part of the binary, sorted by service and name.
func Kinds() []*Kind {
	return slices.SortedFunc(slices.Values(kinds), func(a, b *Kind) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Name, b.Name))
	})
}

// NewAlert returns an alert in a language. id is that of its words: the name of the kind, or what follows such an event. The texts
// ID.title and ID.text are filled with args, names and values in turn; without the second the caller writes the text.
func (k *Kind) NewAlert(lang, id string, args ...any) Alert {
	a := Alert{Kind: k.Name, Severity: k.Severity, Service: k.Service, Title: k.Texts().Text(lang, id+".title", args...)}
	if id += ".text"; k.Texts().Known(id) {
		a.Text = k.Texts().Text(lang, id, args...)
	}
	return a
}
