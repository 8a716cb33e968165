package search

import (
	"bytes"
	"container/list"
	"crypto/sha256"
	"sync"
	"time"

	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

const (
	// cacheBytes bounds the answers that are kept, cacheEntry each of them.
	cacheBytes = 64 << 20
	cacheEntry = 1 << 20
	// cacheOverhead is what an answer takes beyond its body.
	cacheOverhead = 512
	// maxCacheTTL is the longest time for which a token may be given kept answers.
	maxCacheTTL = 30 * 24 * time.Hour
)

// cacheKey stands for a backend, an operation and a body.
type cacheKey [sha256.Size]byte

// kept is an answer that may be given again. It never changes.
type kept struct {
	key  cacheKey
	at   time.Time
	head sdk.Head
	body []byte
}

func (k *kept) size() int { return len(k.body) + cacheOverhead }

// cache keeps answers, the one that was asked for longest ago goes first. How old an answer may be is the asking token's
// policy. It holds no identity: all tokens share it.
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

// get is an answer that is not older than ttl, or nil.
func (c *cache) get(key cacheKey, now time.Time, ttl time.Duration) *kept {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[key]
	if e == nil {
		return nil
	}
	k := e.Value.(*kept)
	if now.Sub(k.at) > ttl {
		return nil
	}
	c.order.MoveToFront(e)
	return k
}

// put keeps an answer in place of an older one.
func (c *cache) put(k *kept) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byKey[k.key]; e != nil {
		c.drop(e)
	}
	c.byKey[k.key] = c.order.PushFront(k)
	for c.size += k.size(); c.size > c.limit; {
		c.drop(c.order.Back())
	}
}

func (c *cache) drop(e *list.Element) {
	k := c.order.Remove(e).(*kept)
	delete(c.byKey, k.key)
	c.size -= k.size()
}

// isCacheable tells whether answers of an operation may be kept at all.
func isCacheable(operation string) bool {
	switch operation {
	case sdk.OpSearch, sdk.OpExtract, sdk.OpMap, sdk.OpCrawl:
		return true
	}
	return false
}

// caching is how the answer of one call is kept and found. The zero value keeps nothing.
type caching struct {
	ttl  time.Duration
	body []byte
}

func (p caching) on() bool { return p.ttl > 0 }

// caching finds the policy of the token for a call.
func (st *state) caching(c *call) caching {
	ttl := st.settings.CacheTTL
	if c.token.cacheTTL != nil {
		ttl = min(time.Duration(*c.token.cacheTTL), maxCacheTTL/time.Second) * time.Second
	}
	if ttl <= 0 || c.in.stream || !isCacheable(c.op.Name) {
		return caching{}
	}
	body, ok := canonical(c.in.body)
	if !ok {
		return caching{}
	}
	return caching{ttl, body}
}

func (p caching) key(l *link, operation string) (key cacheKey) {
	h := sha256.New()
	for _, part := range [][]byte{[]byte(l.ref), []byte(operation), p.body} {
		_, _ = h.Write(part)
		_, _ = h.Write([]byte{0})
	}
	h.Sum(key[:0])
	return key
}

// kept is the answer of a backend that may be given instead of asking it, or nil.
func (a *attempt) kept(l *link) *kept {
	if !a.caching.on() {
		return nil
	}
	return a.state.cache.get(a.caching.key(l, a.call.op.Name), a.service.cfg.Now(), a.caching.ttl)
}

// again makes a kept answer one of this call.
func (k *kept) again() *answer {
	return &answer{head: k.head, reply: &sdk.Reply{Response: sdk.Response{Head: k.head, Body: k.body}}, cached: true}
}

// keep keeps an answer if it may be.
func (a *attempt) keep(ans *answer) {
	body := ans.body()
	if !a.caching.on() || ans.reply == nil || ans.head.Status < 200 || ans.head.Status > 299 || len(body) > cacheEntry {
		return
	}
	head := sdk.Head{Status: ans.head.Status, ContentType: ans.head.ContentType}
	a.state.cache.put(&kept{key: a.caching.key(a.link, a.call.op.Name), at: a.service.cfg.Now(), head: head, body: bytes.Clone(body)})
}
