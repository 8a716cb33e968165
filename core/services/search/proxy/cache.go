package proxy

import (
	"bytes"
	"container/list"
	"crypto/sha256"
	"sync"
	"time"

	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

const (
	// maxCacheBytes bounds the bodies of all cached answers together.
	maxCacheBytes = 64 << 20
	// MaxCacheEntry bounds the body of a cached answer, in bytes.
	MaxCacheEntry = 1 << 20
	// entryOverhead is the memory that an answer takes beyond its body, in bytes.
	entryOverhead = 512
	// MaxCacheTTL is the longest time for which a token's policy may accept cached answers.
	MaxCacheTTL = 30 * 24 * time.Hour
)

// cacheKey is the hash of a backend, an operation and a body.
type cacheKey [sha256.Size]byte

// cachedAnswer is an answer that may be returned again. It is immutable.
type cachedAnswer struct {
	key      cacheKey
	storedAt time.Time
	head     sdk.Head
	body     []byte
}

// size returns the memory that the answer takes, in bytes.
func (k *cachedAnswer) size() int { return len(k.body) + entryOverhead }

// cache is an LRU cache of answers, shared by all tokens: its entries hold no identity. How old an answer may be is
// the policy of the token that asks.
type cache struct {
	limit int

	mu    sync.Mutex
	byKey map[cacheKey]*list.Element
	order *list.List
	size  int
}

func newCache(limit int) *cache {
	return &cache{limit: limit, byKey: map[cacheKey]*list.Element{}, order: list.New()}
}

// get returns an answer that is not older than ttl, or nil.
func (c *cache) get(key cacheKey, now time.Time, ttl time.Duration) *cachedAnswer {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[key]
	if e == nil {
		return nil
	}
	k := e.Value.(*cachedAnswer)
	if now.Sub(k.storedAt) > ttl {
		return nil
	}
	c.order.MoveToFront(e)
	return k
}

// put stores an answer in place of an older one with its key.
func (c *cache) put(k *cachedAnswer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byKey[k.key]; e != nil {
		c.removeElement(e)
	}
	c.byKey[k.key] = c.order.PushFront(k)
	for c.size += k.size(); c.size > c.limit; {
		c.removeElement(c.order.Back())
	}
}

func (c *cache) removeElement(e *list.Element) {
	k := c.order.Remove(e).(*cachedAnswer)
	delete(c.byKey, k.key)
	c.size -= k.size()
}

// isCacheable reports whether answers of an operation may be cached at all.
func isCacheable(operation string) bool {
	switch operation {
	case sdk.OpSearch, sdk.OpExtract, sdk.OpMap, sdk.OpCrawl:
		return true
	}
	return false
}

// cachePolicy says how the answer of one call is cached and found. The zero value caches nothing.
type cachePolicy struct {
	ttl  time.Duration
	body []byte
}

func (p cachePolicy) enabled() bool { return p.ttl > 0 }

// cachePolicyFor returns the cache policy of the token for a call.
func (st *State) cachePolicyFor(c *Call) cachePolicy {
	ttl := st.settings.CacheTTL
	if c.Token.CacheTTL != nil {
		ttl = time.Duration(min(*c.Token.CacheTTL, int64(MaxCacheTTL/time.Second))) * time.Second
	}
	if ttl <= 0 || c.In.Stream || !isCacheable(c.Op.Name) {
		return cachePolicy{}
	}
	body, ok := canonicalJSON(c.In.body)
	if !ok {
		return cachePolicy{}
	}
	return cachePolicy{ttl, body}
}

func (p cachePolicy) keyFor(l *chainedBackend, operation string) (key cacheKey) {
	h := sha256.New()
	for _, part := range [][]byte{[]byte(l.ref), []byte(operation), p.body} {
		_, _ = h.Write(part)
		_, _ = h.Write([]byte{0})
	}
	h.Sum(key[:0])
	return key
}

// findCached returns a cached answer of a backend, or nil.
func (a *attempt) findCached(l *chainedBackend) *cachedAnswer {
	if !a.cachePolicy.enabled() {
		return nil
	}
	return a.state.cache.get(a.cachePolicy.keyFor(l, a.call.Op.Name), a.proxy.now(), a.cachePolicy.ttl)
}

// toAnswer returns a cached answer as the answer of a call.
func (k *cachedAnswer) toAnswer() *Answer {
	return &Answer{Head: k.head, Reply: &sdk.Reply{Response: sdk.Response{Head: k.head, Body: k.body}}, Cached: true}
}

// storeInCache caches an answer if policy, status and size allow it.
func (a *attempt) storeInCache(ans *Answer) {
	body := ans.Body()
	if !a.cachePolicy.enabled() || ans.Reply == nil || ans.Head.Status < 200 || ans.Head.Status > 299 || len(body) > MaxCacheEntry {
		return
	}
	head := sdk.Head{Status: ans.Head.Status, ContentType: ans.Head.ContentType}
	a.state.cache.put(&cachedAnswer{key: a.cachePolicy.keyFor(a.link, a.call.Op.Name), storedAt: a.proxy.now(), head: head,
		body: bytes.Clone(body)})
}
