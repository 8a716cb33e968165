package crawl

import (
	"context"
	"net/url"
	"sync"

	"golang.org/x/sync/singleflight"

	"github.com/patchbay-dev/patchbay/plugins/internal/robots"
)

const (
	robotsPath = "/robots.txt"
	// maxRobots is how much of a robots.txt is read.
	maxRobots = 512 << 10
	// maxRobotsHosts bounds the hosts whose rules one crawl remembers.
	maxRobotsHosts = 32
)

// robotsRules holds what the latest hosts of one crawl permit. Rules that could not be had are asked for again with the
// next page.
type robotsRules struct {
	flight singleflight.Group
	mu     sync.Mutex
	byHost map[string]*robots.Rules
}

// checkRobots fails with errRobots if the host of u forbids it, and otherwise if the rules cannot be had.
func (f *fetcher) checkRobots(ctx context.Context, u *url.URL) error {
	rules, err := f.rulesFor(ctx, u)
	if err == nil && !rules.Allows(u) {
		return errRobots
	}
	return err
}

// rulesFor returns the rules of the host of u. The pause that they ask for holds from then on.
func (f *fetcher) rulesFor(ctx context.Context, u *url.URL) (*robots.Rules, error) {
	host := u.Scheme + "://" + u.Host
	if rules := f.rules.findRules(host); rules != nil {
		return rules, nil
	}
	got, err, _ := f.rules.flight.Do(host, func() (any, error) { return f.fetchRobots(ctx, u) })
	if err != nil {
		return nil, err
	}
	rules := got.(*robots.Rules)
	f.crawler.gates.setDelay(u.Host, rules.Delay)
	f.rules.keepRules(host, rules)
	return rules, nil
}

func (r *robotsRules) findRules(host string) *robots.Rules {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byHost[host]
}

func (r *robotsRules) keepRules(host string, rules *robots.Rules) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.byHost) >= maxRobotsHosts {
		for other := range r.byHost {
			delete(r.byHost, other)
			break
		}
	}
	r.byHost[host] = rules
}

// fetchRobots gets the rules of the host of page, behind redirects. A host that cannot say what it forbids is left alone;
// one that has no robots.txt forbids nothing.
func (f *fetcher) fetchRobots(ctx context.Context, page *url.URL) (*robots.Rules, error) {
	u := &url.URL{Scheme: page.Scheme, Host: page.Host, Path: robotsPath}
	for range maxHops + 1 {
		a, err := f.sendRequest(ctx, u, nil, readRobots)
		if err != nil {
			return nil, err
		}
		if to := a.redirectTarget(u); to != nil {
			u = to
			continue
		}
		switch {
		case a.status >= 200 && a.status <= 299:
			return robots.Parse(a.body, f.crawler.cfg.UserAgent), nil
		case a.status >= 400 && a.status <= 499:
			return robots.Parse(nil, f.crawler.cfg.UserAgent), nil
		}
		return nil, errNoRobots
	}
	return nil, errNoRobots
}
