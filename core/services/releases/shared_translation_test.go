package releases_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/releases/translate"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// noJobs takes jobs and runs none.
type noJobs struct {
	mu     sync.Mutex
	latest time.Time
}

func (q *noJobs) Submit(_ context.Context, sub queue.Submission) (queue.Job, bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.latest = sub.RunAt
	return queue.Job{ID: "job", State: queue.Queued}, false, nil
}

// translatingNode are the translations of one of several cores.
type translatingNode struct {
	*translate.Translations
	t     *testing.T
	id    string
	store *store.Store
	jobs  noJobs
}

// startTranslators starts the translations of two cores, whose clocks are a day apart, on one database. They have one model and a budget.
func startTranslators(t *testing.T, model *fake.Translator, tokens int64) (a, b *translatingNode) {
	t.Helper()
	url := testkit.Postgres(t)
	start := func(id string, ahead time.Duration) *translatingNode {
		st := testkit.SharedStore(t, url, serverMigrations()...)
		n := &translatingNode{t: t, id: id, store: st}
		n.Translations = translate.New(translate.Config{Store: st, Cluster: testkit.OpenCluster(t, st, id, true), Queue: &n.jobs,
			Now:      func() time.Time { return time.Now().Add(ahead) },
			Settings: func() translate.Settings { return translate.Settings{Translator: model, DailyTokens: tokens} }})
		t.Cleanup(n.Close)
		return n
	}
	return start("a", 0), start("b", 24*time.Hour)
}

// demand asks for a translation of a text of about 200 tokens into a language, and returns it as it is.
func (n *translatingNode) demand(language string) translate.Work {
	n.t.Helper()
	works, err := n.Demand(n.t.Context(), []translate.Demand{{Source: translate.Source{Task: translator.Translate, Language: language,
		Title: "Title", Body: strings.Repeat("some words ", 72)}}})
	must(n.t, err)
	return works[0]
}

// work runs a job of translations.
func (n *translatingNode) work() {
	n.t.Helper()
	if _, err := n.Handler().Run(n.t.Context(), &queue.Job{ID: "job-" + n.id}, noProgress{}); err != nil {
		n.t.Error(err)
	}
}

// TestBudgetOfNodes: calls that are under way at one core are part of the budget at another one, until that core is lost. The day is that
// of the database.
func TestBudgetOfNodes(t *testing.T) {
	model := fake.NewTranslator("译")
	a, b := startTranslators(t, model, 1000)
	begun, goOn, first := make(chan struct{}), make(chan struct{}), atomic.Bool{}
	model.Before(func(context.Context, translator.Request) {
		if first.CompareAndSwap(false, true) {
			close(begun)
			<-goOn
		}
	})
	a.demand("de")
	done := make(chan struct{})
	go func() { defer close(done); a.work() }()
	<-begun
	left := func(language string) string {
		t.Helper()
		if w := b.demand(language); w.ID != "" {
			b.work()
		}
		w := b.demand(language)
		return string(w.Outcome) + w.ErrorCode
	}
	if got := left("fr"); got != "ready" {
		t.Errorf("within the budget: %s", got)
	}
	model.Answer(func(req translator.Request) *translator.Answer {
		answer := &translator.Answer{Attempts: []translator.Attempt{fake.TranslatorAttempt(translator.OK)}, Parts: req.Parts}
		answer.Attempts[0].OutputTokens = 250
		return answer
	})
	if got := left("it"); got != "ready" {
		t.Errorf("still within the budget: %s", got)
	}
	if got := left("es"); got != "disabledbudget_reached" {
		t.Errorf("above the budget: %s", got)
	}
	// The core is taken for dead.
	must(t, b.store.Tx(t.Context(), "end a", func(ctx context.Context) error {
		return b.store.Writer(ctx).Exec("UPDATE core_nodes SET epoch = epoch + 1 WHERE id = 'a'").Error
	}))
	if got := left("es"); got != "ready" {
		t.Errorf("after the loss of a core: %s", got)
	}
	close(goOn)
	<-done
	if got := left("pt"); got != "disabledbudget_reached" {
		t.Errorf("above the budget, with the call of the former core: %s", got)
	}
	if n := len(model.Calls()); n != 4 {
		t.Errorf("%d calls", n)
	}
}

// TestPauseOfNodes: while a model wants no calls of one core, another one makes none either.
func TestPauseOfNodes(t *testing.T) {
	model := fake.NewTranslator("译")
	a, b := startTranslators(t, model, 0)
	model.Fail(translator.RateLimited(time.Hour, "slow down"))
	a.demand("de")
	a.work()
	b.demand("fr")
	b.work()
	if n := len(model.Calls()); n != 1 {
		t.Errorf("%d calls", n)
	}
	if wait := time.Until(b.jobs.latest); wait < 59*time.Minute || wait > 61*time.Minute {
		t.Errorf("the next job comes in %s", wait)
	}
}
