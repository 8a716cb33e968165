package local

import (
	"runtime/debug"
	"sync"
)

// thriftyGC is the percentage by which memory may grow until garbage is collected while files are indexed. Indexing leaves much behind, and
// the collector of a plugin's process waits until there is several times more than the index needs.
const thriftyGC = 100

// thrift counts who saves memory, and keeps the percentage for when nobody does.
var thrift struct {
	sync.Mutex
	savers, before int
}

// saveMemory collects garbage more often until the function that it returns is called.
func saveMemory() (end func()) {
	thrift.Lock()
	defer thrift.Unlock()
	if thrift.savers++; thrift.savers == 1 {
		thrift.before = debug.SetGCPercent(thriftyGC)
	}
	return func() {
		thrift.Lock()
		defer thrift.Unlock()
		if thrift.savers--; thrift.savers == 0 {
			debug.SetGCPercent(thrift.before)
		}
	}
}
