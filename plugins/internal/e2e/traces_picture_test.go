package e2e

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestTracePicture draws the trace of a search whose first upstream key is refused: the bar of each span lies within its parent's.
func TestTracePicture(t *testing.T) {
	t.Parallel()
	k := startCollector(t)
	c, up, token := startTraced(t, k)
	c.addKeys("tvly-another-key")
	// A core knows all keys from its start on.
	c.restart()
	up.script(scripted{Path: "/search", Status: http.StatusTooManyRequests, DelayMS: 35}, scripted{Path: "/search", DelayMS: 90})
	c.search(t, token, http.StatusOK)
	var spans []span
	eventually(t, 10*time.Second, "the trace has both attempts", func() bool {
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
	b.do(chromedp.EmulateViewport(1200, 500))
	b.inspectCut("the trace")
	evaluated(b, "the spans that are drawn", `document.querySelectorAll(".row").length`, len(spans))
	evaluated(b, "spans that are no children, or lie outside of their parents", `[...document.querySelectorAll(".row")].filter((r) => {
		const own = r.querySelector(".bar").getBoundingClientRect(), parent = document.getElementById(r.dataset.parent)?.querySelector(".bar").getBoundingClientRect();
		return parent ? own.left < parent.left - 2 || own.right > parent.right + 2 : r.dataset.parent !== "";
	}).length`, 0)
	b.shows("http.response.status_code")
	b.shows("429")
	b.smallPicture("trace")
}
