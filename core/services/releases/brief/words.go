package brief

import "strings"

// wording is what a brief says in one language. Readers find its parts by the headings.
type wording struct {
	projects, social, stars, followers   string
	noReleases, hasNotes, noNotes, links string
	prerelease                           string
	// more says how many releases are not listed, others how many people there are besides those that are named. Both have one %d.
	more, others string
	// comma stands between names, and colon before them.
	comma, colon string
}

var (
	chinese = wording{
		projects: "## 项目更新", social: "## 获星与关注", stars: "### 获星", followers: "### 关注",
		noReleases: "- 本时间窗口内没有新的 Release。", hasNotes: "  - 有更新说明，详情见发布页面。", noNotes: "  - 没有可提取的更新说明。", links: "  - 相关链接：",
		prerelease: " · 预发布", more: "- 还有 %d 个 Release 未列出。", others: " 等 %d 人", comma: "、", colon: "：",
	}
	english = wording{
		projects: "## Project updates", social: "## Stars and followers", stars: "### Stars", followers: "### Followers",
		noReleases: "- There is no new release in this time.", hasNotes: "  - It has notes: see its page.", noNotes: "  - It has no notes.",
		links:      "  - Links: ",
		prerelease: " · pre-release", more: "- %d more releases are not listed.", others: " and others, %d in all", comma: ", ", colon: ": ",
	}
)

// wordsIn returns the words of a language, such as zh-CN or en; of another one the English ones.
func wordsIn(language string) wording {
	if base, _, _ := strings.Cut(strings.ToLower(language), "-"); base == "zh" {
		return chinese
	}
	return english
}
