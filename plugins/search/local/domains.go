package local

import (
	"net/url"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/plugins/internal/webops"
)

// domains are those that results shall come from, and those that they shall not. The word "file" stands for documents on
// this machine.
type domains struct {
	include, exclude []string
	// some: domains to come from were named.
	some bool
}

const domainFile = "file"

func newDomains(include, exclude []string) domains {
	return domains{include: bareDomains(include), exclude: bareDomains(exclude), some: len(include) > 0}
}

func bareDomains(all []string) (out []string) {
	for _, d := range all {
		if d = webops.BareDomain(d); d != "" {
			out = append(out, d)
		}
	}
	return out
}

// permitsAddress reports whether a document may be a result.
func (d domains) permitsAddress(address string) bool {
	if strings.HasPrefix(address, scheme) {
		return d.permitFiles()
	}
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return !webops.Within(host, d.exclude) && (!d.some || webops.Within(host, d.include))
}

func (d domains) permitFiles() bool {
	return (!d.some || slices.Contains(d.include, domainFile)) && !slices.Contains(d.exclude, domainFile)
}

// mayHold reports whether the index may hold a document of these domains.
func (b *backend) mayHold(d domains) bool { return d.permitFiles() || len(b.follower.sites) > 0 }
