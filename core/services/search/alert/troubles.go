package alert

// Trouble is what keeps a backend from answering at present.
type Trouble struct {
	// Kind is pool_empty for a backend without a usable key, upstream_errors for one most of whose latest calls failed.
	Kind string
	// Backend is the instance.
	Backend string
	// Calls and Failed count the latest calls, for upstream_errors.
	Calls, Failed int
}

// Troubles returns what is wrong with the backends, by the limits of the alerts, in the order of the chain.
func (m *Monitor) Troubles() (out []Trouble) {
	set, _ := m.cfg.Settings()
	for _, b := range m.cfg.Backends.Chain() {
		if b.NeedsKey && !m.cfg.Pool.HasUsable(b.KeyGroup) {
			out = append(out, Trouble{Kind: poolEmpty.Name, Backend: b.Ref})
		}
		calls, failed := m.cfg.Backends.SumCalls(b.Ref, m.cfg.Now(), set.ErrorWindow)
		if set.tooManyFailed(calls, failed) {
			out = append(out, Trouble{upstreamErrors.Name, b.Ref, calls, failed})
		}
	}
	return out
}

// tooManyFailed reports whether so many of the latest calls have failed that people are told.
func (a Settings) tooManyFailed(calls, failed int) bool {
	return calls >= a.ErrorRequests && float64(failed) >= a.ErrorShare*float64(calls)
}
