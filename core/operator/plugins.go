package operator

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// PluginList is the answer to a request for the plugins.
type PluginList struct {
	Plugins []Plugin `json:"plugins"`
}

// UnknownInstance returns the error for an instance that plugin.hcl does not have; names are those that there are.
func UnknownInstance(ref string, names []string) error {
	if len(names) == 0 {
		return fault.New(fault.NotFound, "There is no plugin instance %q: plugin.hcl has none.", ref)
	}
	return fault.New(fault.NotFound, "There is no plugin instance %q. plugin.hcl has: %s.", ref,
		strings.Join(slices.Sorted(slices.Values(names)), ", "))
}

func (s *Server) listPlugins(*http.Request) (PluginList, error) {
	return PluginList{s.cfg.Plugins.List()}, nil
}

func (s *Server) restartPlugin(r *http.Request) (Plugin, error) {
	ref := r.PathValue("ref")
	p, err := s.cfg.Plugins.Restart(r.Context(), ref)
	s.record(r.Context(), "core.plugins.restart", ref, err)
	return p, err
}

// processCheck is how often a reader of lines looks whether the instance got another process.
const processCheck = time.Second

// sendLogs answers with the last lines of a process, and with follow=1 with those that it writes from then on.
func (s *Server) sendLogs(w http.ResponseWriter, r *http.Request) {
	ref := r.PathValue("ref")
	found, err := s.cfg.Plugins.LogsAfter(ref, nil, 0)
	if err != nil {
		s.writeError(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	tick := time.NewTicker(processCheck)
	defer tick.Stop()
	for {
		for _, line := range found.Lines {
			if _, err := io.WriteString(w, line+"\n"); err != nil {
				return
			}
		}
		if r.URL.Query().Get("follow") != "1" || http.NewResponseController(w).Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-found.More:
		case <-tick.C:
		}
		next, err := s.cfg.Plugins.LogsAfter(ref, found.Process, found.Written)
		if err != nil { // the instance is left out at the moment, or was removed
			found.Lines = nil
			continue
		}
		found = next
	}
}
