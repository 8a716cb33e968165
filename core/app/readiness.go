package app

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/module"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
)

// stateOK is the state of a part that works.
const stateOK = "ok"

// databaseAnswersWithin is how long /readyz waits for the database. Load balancers ask each few seconds and wait as long.
const databaseAnswersWithin = 2 * time.Second

// readiness is the answer to /readyz?verbose.
type readiness struct {
	Ready bool            `json:"ready"`
	Parts []readinessPart `json:"parts"`
}

// readinessPart is how a part of the core is doing.
type readinessPart struct {
	Name string `json:"name"`
	// State is "ok", the state of a plugin's process such as "ready", or what is wrong.
	State string `json:"state"`
	// Required says that the core is not ready without the part.
	Required bool `json:"required"`
	// TookMs is how long the question took, in milliseconds.
	TookMs int64 `json:"tookMs"`
}

// states returns the states of the parts by their names.
func (r readiness) states() map[string]string {
	out := make(map[string]string, len(r.Parts))
	for _, p := range r.Parts {
		out[p.Name] = p.State
	}
	return out
}

// checkReadiness asks everything that requests need. A provider that is down does not make the core unready: other services
// go on, and its own requests say so.
func (a *App) checkReadiness(ctx context.Context) readiness {
	r := readiness{Ready: true}
	ask := func(name string, required bool, question func() string) {
		began := time.Now()
		p := readinessPart{Name: name, Required: required, State: question()}
		p.TookMs = time.Since(began).Milliseconds()
		r.Ready = r.Ready && (!required || p.State == stateOK)
		r.Parts = append(r.Parts, p)
	}
	ask("database", true, func() string {
		limited, cancel := context.WithTimeout(ctx, databaseAnswersWithin)
		defer cancel()
		err := a.store.Ping(limited)
		if limited.Err() != nil {
			return "the database does not answer within " + databaseAnswersWithin.String()
		}
		return readyState(err)
	})
	ask("node", true, func() string { return readyState(a.cluster.Ready()) })
	for _, s := range a.services {
		if checker, ok := s.Service.(module.ReadinessChecker); ok {
			ask(s.name, true, func() string { return readyState(checker.Ready()) })
		}
		if checker, ok := s.Service.(module.ImpairmentChecker); ok {
			ask(s.name, false, func() string { return readyState(checker.Impaired()) })
		}
	}
	for _, in := range a.catalog.Instances() {
		ask("plugin "+in.Ref(), false, func() string { return conditionText(in.CheckHealth(ctx)) })
	}
	for _, ref := range a.absent.listRefs() {
		if left, ok := a.absent.find(ref); ok {
			ask("plugin "+ref, false, func() string { return "left out, and tried again: " + left.reason })
		}
	}
	if rejected := a.outcome.rejected(); rejected != nil {
		ask("configuration", false, func() string {
			return "the reload at " + rejected.at.UTC().Format(time.RFC3339) + " was rejected, the former configuration is in use: " +
				rejected.reason
		})
	}
	if a.inUse.Load().Backup != nil {
		ask("backup", false, func() string {
			if failed := a.backups.failure(); failed != nil {
				return "the backup at " + failed.at.UTC().Format(time.RFC3339) + " failed: " + failed.reason
			}
			return stateOK
		})
	}
	return r
}

// readyState returns "ok", or what an error says.
func readyState(err error) string {
	if err != nil {
		return err.Error()
	}
	return stateOK
}

// conditionText returns "ready", or the state of an instance with its reason.
func conditionText(c catalog.Condition) string {
	if c.Message == "" || c.Working() {
		return string(c.State)
	}
	return string(c.State) + ": " + c.Message
}
