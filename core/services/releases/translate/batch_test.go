package translate

import (
	"fmt"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

func TestBatchesAreFilled(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	work := func(id string, task translator.Task, language string, tokens int64, due time.Duration) Work {
		return Work{ID: id, Task: task, Language: language, Tokens: tokens, Deadline: store.Millis(now.Add(due))}
	}
	const text, summary = translator.Translate, translator.Summarize
	for name, tt := range map[string]struct {
		waiting      []Work
		ids, reason  string
		next         time.Duration
		leavesNobody bool
	}{
		"one that is due": {[]Work{work("a", text, "zh-CN", 10, 0)}, "[a]", reasonDeadline, 0, true},
		"none is due": {[]Work{work("a", text, "zh-CN", 10, time.Second), work("b", text, "zh-CN", 10, 2*time.Second)}, "[a b]", "",
			time.Second, false},
		"one takes others along": {[]Work{work("a", text, "zh-CN", 10, 0), work("b", text, "zh-CN", 10, time.Hour)}, "[a b]", reasonDeadline, 0,
			true},
		"full before it is due": {[]Work{work("a", text, "zh-CN", 60, time.Hour), work("b", text, "zh-CN", 40, time.Hour),
			work("c", text, "zh-CN", 1, time.Minute)}, "[a b]", reasonTokens, time.Minute, false},
		"too large for the rest": {[]Work{work("a", text, "zh-CN", 60, 0), work("b", text, "zh-CN", 50, time.Hour),
			work("c", text, "zh-CN", 30, time.Hour)}, "[a c]", reasonDeadline, time.Hour, false},
		"larger than a batch": {[]Work{work("a", text, "zh-CN", 900, time.Hour)}, "[a]", reasonTokens, 0, true},
		"languages apart":     {[]Work{work("a", text, "zh-CN", 10, 0), work("b", text, "de", 10, 0)}, "[a]", reasonDeadline, 0, false},
		"summaries alone": {[]Work{work("a", summary, "zh-CN", 10, time.Hour), work("b", summary, "zh-CN", 10, time.Hour)}, "[a]",
			reasonTokens, time.Hour, false},
	} {
		tr := &Translations{cfg: Config{Settings: func() Settings { return Settings{BatchTokens: 100} }}}
		batch, reason, next := tr.fillBatch(tt.waiting, now)
		var ids []string
		for _, w := range batch {
			ids = append(ids, w.ID)
		}
		want := store.Millis(now.Add(tt.next))
		if tt.leavesNobody {
			want = 0
		}
		if fmt.Sprint(ids) != tt.ids || reason != tt.reason || next != want {
			t.Errorf("%s: %v %q %d, want %s %q %d", name, ids, reason, next, tt.ids, tt.reason, want)
		}
	}
}

func TestKeysAreOfTheText(t *testing.T) {
	one := Source{Task: translator.Translate, Language: "zh-CN", Title: "T", Body: "B"}
	same, others := one, []Source{
		{Task: translator.Summarize, Language: "zh-CN", Title: "T", Body: "B"},
		{Task: translator.Translate, Language: "de", Title: "T", Body: "B"},
		{Task: translator.Translate, Language: "zh-CN", Title: "TB"}, {Task: translator.Translate, Language: "zh-CN", Body: "TB"},
	}
	same.Language = "ZH-cn"
	if one.key() != same.key() {
		t.Error("the case of a language makes another work")
	}
	for _, other := range others {
		if other.key() == one.key() {
			t.Errorf("%+v is the same work", other)
		}
	}
	if unitKey(1, "a") == unitKey(1, "b") || unitKey(1, "a") == unitKey(2, "a") {
		t.Error("units have the same key")
	}
}
