package pages

import (
	"encoding/json"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
)

// keptBody is how much of an answer waits for the page that shows it, in bytes.
const keptBody = 512 << 10

// playResult is what a call from the playground came to. It waits for the page that shows it once, so that loading that page again
// calls nothing.
type playResult struct {
	Values map[string]string
	Raw    string
	Answer *proxy.TrialAnswer
	// Size is that of the whole answer, in bytes.
	Size  int
	Error *fault.Error
	Hits  []hit
}

// showResult answers a form with the page that shows a result once. It can be shown as long as a secret of a form.
func (p pages) showResult(c *gin.Context, page, address string, result any) {
	text, err := json.Marshal(result)
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	p.kit.ShowOnce(c, address, ui.Secret{Of: page, Text: string(text)})
}

// takeResult reads the result that waits for a page, and reports whether there is one.
func (p pages) takeResult(c *gin.Context, page string, result any) bool {
	s := p.kit.TakeSecret(c, page)
	return s.Text != "" && json.Unmarshal([]byte(s.Text), result) == nil
}

// keptResult returns what the page of a call shows of it.
func (play playView) keptResult() playResult {
	r := playResult{Values: map[string]string{}, Raw: play.Raw, Error: play.Error, Hits: play.Hits}
	for _, in := range play.Inputs {
		r.Values[in.Name] = in.Value
	}
	if play.Answer != nil {
		answer := *play.Answer
		r.Size = len(answer.Body)
		answer.Body = answer.Body[:min(r.Size, keptBody)]
		r.Answer = &answer
	}
	return r
}

// showResult puts the result of a call into the page.
func (play *playView) showResult(r playResult) {
	play.Raw, play.Answer, play.Size, play.Error, play.Hits = r.Raw, r.Answer, r.Size, r.Error, r.Hits
	for i := range play.Inputs {
		play.Inputs[i].Value = r.Values[play.Inputs[i].Name]
	}
}
