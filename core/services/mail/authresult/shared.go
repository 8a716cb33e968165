package authresult

import (
	"context"
	"net"
	"sync"
)

// Shared returns a Checker for messages that are checked at the same time: each question is put to the DNS once for all of them.
func (c *Checker) Shared() *Checker {
	return &Checker{&sharedResolver{resolver: c.resolver, lookups: map[string]*lookup{}}, c.timeout}
}

// sharedResolver answers a question that it was asked before, or is being asked, with the same answer.
type sharedResolver struct {
	resolver Resolver
	mu       sync.Mutex
	lookups  map[string]*lookup
}

// lookup is a question to the DNS and, when done is closed, its answer.
type lookup struct {
	done   chan struct{}
	answer any
	err    error
	// abandoned says that who has asked did not wait for the answer.
	abandoned bool
}

// shareAnswer returns the answer to a question, which ask gets if nobody else has asked it.
func shareAnswer[T any](ctx context.Context, r *sharedResolver, question string, ask func() (T, error)) (answer T, err error) {
	for {
		l, first := r.findLookup(question)
		if first {
			answer, err = ask()
			l.answer, l.err = answer, err
			if l.abandoned = ctx.Err() != nil; l.abandoned {
				r.forgetQuestion(question)
			}
			close(l.done)
			return answer, err
		}
		select {
		case <-l.done:
			if !l.abandoned {
				return l.answer.(T), l.err
			}
		case <-ctx.Done():
			return answer, ctx.Err()
		}
	}
}

// findLookup returns the lookup of a question, and whether the caller is the first to ask.
func (r *sharedResolver) findLookup(question string) (l *lookup, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l, found := r.lookups[question]
	if !found {
		l = &lookup{done: make(chan struct{})}
		r.lookups[question] = l
	}
	return l, !found
}

// forgetQuestion has a question asked anew.
func (r *sharedResolver) forgetQuestion(question string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.lookups, question)
}

// LookupTXT implements Resolver.
func (r *sharedResolver) LookupTXT(ctx context.Context, name string) ([]string, error) {
	return shareAnswer(ctx, r, "TXT "+name, func() ([]string, error) { return r.resolver.LookupTXT(ctx, name) })
}

// LookupMX implements Resolver.
func (r *sharedResolver) LookupMX(ctx context.Context, name string) ([]*net.MX, error) {
	return shareAnswer(ctx, r, "MX "+name, func() ([]*net.MX, error) { return r.resolver.LookupMX(ctx, name) })
}

// LookupIPAddr implements Resolver.
func (r *sharedResolver) LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, error) {
	return shareAnswer(ctx, r, "address "+host, func() ([]net.IPAddr, error) { return r.resolver.LookupIPAddr(ctx, host) })
}

// LookupAddr implements Resolver.
func (r *sharedResolver) LookupAddr(ctx context.Context, addr string) ([]string, error) {
	return shareAnswer(ctx, r, "name "+addr, func() ([]string, error) { return r.resolver.LookupAddr(ctx, addr) })
}
