package proxy

import (
	"time"

	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// failedAnswer is an upstream's 5xx that the client gets if no later backend answers.
type failedAnswer struct {
	answer           *Answer
	link             *chainedBackend
	keyID            string
	upstream, plugin time.Duration
	// credits are what the upstream charged for it.
	credits int64
}

// discard releases the answer; f may be nil.
func (f *failedAnswer) discard() {
	if f != nil {
		f.answer.discardStream()
	}
}

// mayTryNext reports whether another backend may be asked instead of passing an answer on. A research may have begun in
// spite of its status, and would be paid for twice.
func (a *attempt) mayTryNext(ans *Answer) bool {
	return a.state.settings.NextOn5xx && ans.Head.Status >= 500 && a.call.Op.Name != sdk.OpResearch && a.clientCtx.Err() == nil
}

// deferAnswer returns a failed answer to be kept while later backends are tried. What the upstream charged for it stays
// charged.
func (a *attempt) deferAnswer(ans *Answer) *failedAnswer {
	f := &failedAnswer{answer: ans, link: a.link, keyID: a.keyID, upstream: a.upstream, plugin: a.plugin}
	if !a.unmetered {
		f.credits = chargedCredits(ans, 0)
		a.spent += f.credits
	}
	return f
}

// restoreAnswer makes a failed answer that was set aside the answer of the call.
func (a *attempt) restoreAnswer(f *failedAnswer) *Answer {
	a.link, a.keyID, a.upstream, a.plugin = f.link, f.keyID, f.upstream, f.plugin
	a.spent -= f.credits
	return f.answer
}
