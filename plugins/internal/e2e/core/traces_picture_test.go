package core

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// TestTracePicture draws the trace of a search whose first upstream key is refused: the bar of each span lies within its parent's.
func TestTracePicture(t *testing.T) {
	t.Parallel()
	k := startCollector(t)
	c, up, token := startTraced(t, k)
	c.AddKeys("tvly-another-key")
	// A core knows all keys from its start on.
	c.Restart()
	up.Script(kit.Scripted{Path: "/search", Status: http.StatusTooManyRequests, DelayMS: 35}, kit.Scripted{Path: "/search", DelayMS: 90})
	c.Search(t, token, http.StatusOK)
	var spans []span
	kit.Eventually(t, 10*time.Second, "the trace has both attempts", func() bool {
		refused := k.find(func(s span) bool { return s.name == "POST" && s.failed })
		if len(refused) == 0 {
			return false
		}
		spans = k.find(func(s span) bool { return s.trace == refused[0].trace })
		return len(spans) >= 7
	})
	var shown []map[string]any
	for _, s := range spans {
		shown = append(shown, map[string]any{
			"id": s.id, "parent": s.parent, "trace": s.trace, "service": s.service, "name": s.name, "failed": s.failed, "attributes": s.attributes,
			"resource": s.resource,
			"start":    s.started.UnixMicro(), "took": s.completed.Sub(s.started).Microseconds(),
		})
	}
	refused := slices.IndexFunc(spans, func(s span) bool { return s.name == "POST" && s.failed })
	if len(spans) != 7 {
		t.Fatalf("the spans are %+v", spans)
	}
	b := openDrawing(t, "trace", map[string]any{"spans": shown, "chosen": spans[refused].id})
	b.Do(chromedp.EmulateViewport(1200, 500))
	b.InspectCut("the trace")
	kit.RequireValue(b, "the spans that are drawn", `document.querySelectorAll(".row").length`, len(spans))
	kit.RequireValue(b, "spans that are no children, or lie outside of their parents", `[...document.querySelectorAll(".row")].filter((r) => {
		const own = r.querySelector(".bar").getBoundingClientRect(), parent = document.getElementById(r.dataset.parent)?.querySelector(".bar").getBoundingClientRect();
		return parent ? own.left < parent.left - 2 || own.right > parent.right + 2 : r.dataset.parent !== "";
	}).length`, 0)
	b.Shows("http.response.status_code")
	b.Shows("429")
	smallPicture(b, "trace")
}
