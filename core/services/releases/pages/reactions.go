package pages

import (
	"time"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/services/releases/reading"
)

// reactedParameter says in the address of a release that a reaction to it was changed.
const reactedParameter = "reacted"

// reaction is one of the reactions to a release.
type reaction struct {
	// Name is the word of the API, Sign the picture.
	Name, Sign string
	Count      int64
	// Left says that the reader has left it.
	Left bool
}

// reactionList returns the reactions in the order of the page.
func reactionList(bar reading.ReactionBar) []reaction {
	n, left := bar.Reactions.Counts, bar.Reactions.Viewer
	return []reaction{
		{"plus1", "👍", n.Plus1, left.Plus1}, {"laugh", "😄", n.Laugh, left.Laugh}, {"heart", "❤️", n.Heart, left.Heart},
		{"hooray", "🎉", n.Hooray, left.Hooray}, {"rocket", "🚀", n.Rocket, left.Rocket}, {"eyes", "👀", n.Eyes, left.Eyes},
	}
}

// hasReactions reports whether anybody has left a reaction.
func hasReactions(bar reading.ReactionBar) bool {
	return bar.Reactions.Counts != reading.ReactionCounts{}
}

// liveReactions are the attributes by which the page asks once for the present reactions: only the code host knows which of them
// the reader has left.
func (p pages) liveReactions(bar reading.ReactionBar) templ.Attributes {
	if !bar.CanReact {
		return templ.Attributes{}
	}
	return ui.Live(p.base + reactionsPath + "/" + bar.ReleaseID + "/live")
}

func (p *readingPages) reactionsLive(c *gin.Context) {
	ctx := c.Request.Context()
	p.kit.Stream(c, time.Minute, nil, func(v *ui.View) (templ.Component, bool, error) {
		bar, err := p.service.RefreshReactions(ctx, c.Param("id"))
		return reactions(v, p.pages, bar), true, err
	})
}

func (p *readingPages) toggleReaction(c *gin.Context) {
	ctx := c.Request.Context()
	r, err := p.service.ReleaseByID(ctx, c.Param("id"), "")
	if err == nil {
		_, err = p.service.ToggleReaction(ctx, r.ReleaseID, c.PostForm("content"))
	}
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	p.kit.Redirect(c, p.tagURL(textOrEmpty(r.RepoFullName), r.TagName)+"?"+reactedParameter+"=yes")
}
