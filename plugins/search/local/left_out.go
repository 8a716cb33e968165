package local

import (
	"cmp"
	"slices"

	"github.com/patchbay-dev/patchbay/plugins/internal/crawl"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// maxNames is how many names are listed of what is left out for one reason.
const maxNames = 10

// leftOuts holds the files and pages that are not in the index: their number by reason, and the first names of each.
type leftOuts map[string]*search.IndexLeftOut

// addFile counts one file or page.
func (l leftOuts) addFile(reason, name string) {
	one := l[reason]
	if one == nil {
		one = &search.IndexLeftOut{Reason: reason}
		l[reason] = one
	}
	one.Count++
	at, _ := slices.BinarySearch(one.Names, name)
	if at < maxNames {
		one.Names = slices.Insert(one.Names, at, name)
		one.Names = one.Names[:min(len(one.Names), maxNames)]
	}
}

// listCounts returns the counts, the highest first.
func (l leftOuts) listCounts() (out []search.IndexLeftOut) {
	for _, one := range l {
		out = append(out, *one)
	}
	slices.SortFunc(out, func(a, b search.IndexLeftOut) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}

// listLeftOut returns what of a folder is not in the index.
func (s snapshot) listLeftOut(r root) []search.IndexLeftOut {
	out := leftOuts{}
	for address, l := range s.left {
		if l.root == r.name {
			out.addFile(string(l.reason), plainPath(address))
		}
	}
	for address, f := range s.files {
		if e := s.manifest[address]; !f.page && f.root == r.name && e.Why != "" {
			out.addFile(string(e.Why), plainPath(address))
		}
	}
	return out.listCounts()
}

// leftOutPages returns what of a site a visit left out.
func leftOutPages(result *crawl.Result) []search.IndexLeftOut {
	out := leftOuts{}
	for _, f := range result.Failed {
		out.addFile(f.Reason, plainAddress(f.URL))
	}
	for reason, n := range result.Unlisted {
		if out[reason] == nil {
			out[reason] = &search.IndexLeftOut{Reason: reason}
		}
		out[reason].Count += int64(n)
	}
	return out.listCounts()
}
