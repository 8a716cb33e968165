package news

import (
	"strconv"
	"strings"
	"time"
)

// The languages of the texts.
const (
	chinese = "zh"
	english = "en"
)

// chineseTexts returns the texts by key. Words in braces are filled in.
func chineseTexts() map[string]string {
	return map[string]string{
		"between":   "：",
		"enum":      "、",
		"hint":      "提示：未配置实例 Public Base URL（系统设置），以下为站内路径。",
		"more":      "... 以及其他 {n} 个服务（已省略）",
		"moreRepos": "... 以及其他 {n} 个仓库（已省略）",
		"services":  "{n} 个服务",
		"repos":     "{n} 个仓库",
		"more.one":  "... 以及其他 {n} 个服务（已省略）", "moreRepos.one": "... 以及其他 {n} 个仓库（已省略）",
		"services.one": "{n} 个服务", "repos.one": "{n} 个仓库",

		"open.job": "查看任务", "open.check": "查看检查任务", "open.service": "查看服务详情", "open.settings": "打开系统设置",

		"job.title":           "更新完成（{status}）",
		"job.status.success":  "成功",
		"job.status.failed":   "失败",
		"job.status.rolled":   "已回滚",
		"job.status.canceled": "已取消",
		"job.status.undone":   "已取消并恢复",
		"job.success":         "{subject}更新成功。",
		"job.failed":          "{subject}更新失败。",
		"job.rolled":          "{subject}更新失败，已回滚到之前的版本。",
		"job.canceled":        "{subject}的更新已取消。",
		"job.undone":          "{subject}的更新已取消，已恢复到之前的版本。",
		"job.other":           "{subject}的更新已结束（{status}）。",
		"job.subject.one":     "{service} 服务",

		"job.subject.one.change": "{service} 服务({current} -> {candidate})",

		"job.subject.many":     "{n} 个服务",
		"job.none.success":     "更新任务成功，没有服务发生变化。",
		"job.none.failed":      "更新任务失败。",
		"job.none.rolled":      "更新任务失败，已回滚。",
		"job.none.canceled":    "更新任务已取消。",
		"job.none.undone":      "更新任务已取消，已恢复到之前的版本。",
		"job.none.other":       "更新任务已结束（{status}）。",
		"job.changed":          "已更新的服务：",
		"job.affected":         "涉及的服务：",
		"job.unchanged":        "更新未成功的服务：",
		"job.failure":          "失败原因：{reason}",
		"job.excerpt":          "错误摘要：",
		"job.card.kind":        "更新完成",
		"job.card.none":        "更新任务",
		"version.many":         "发现 {n} 个服务有新版本",
		"version.many.summary": "发现 {n} 个服务有新版本:",
		"version.one":          "{service} 服务有新版本。",
		"version.one.change":   "{service} 服务有新版本({current} -> {candidate})。",
		"version.item.change":  "{service}({current} -> {candidate})",
		"version.card.kind":    "发现新版本",
		"version.card.status":  "有新版本",
		"version.card.change":  "{current} → {candidate}",
		"anomaly.title":        "GHCR Webhook 巡检异常",
		"anomaly.summary":      "巡检发现 {n} 个异常仓库:{repos}。",
		"anomaly.summary.none": "巡检发现 {n} 个异常仓库。",
		"anomaly.counts":       "缺失 {missing}，冲突 {conflict}，错误 {error}",
		"anomaly.state":        "{repo} [{state}]",
		"anomaly.error":        "{repo} [{state}]：{error}",
		"anomaly.head":         "异常仓库：",
		"anomaly.card.kind":    "Webhook 巡检",
		"anomaly.card.status":  "异常",
		"state.missing":        "缺失", "state.conflict": "冲突", "state.error": "错误",
		"test.title": "通知测试", "test.message": "Patchbay test", "test.all": "全部渠道", "test.card.status": "测试",

		"card.scoped": "{type}（{scope}）", "card.type": "类型", "card.services": "服务", "card.duration": "用时", "card.finished": "完成时间",
		"card.version": "版本变化", "card.checked": "检查范围", "card.counts": "统计", "card.channel": "渠道", "card.app": "版本",
		"card.more": "以及其他 {n} 个服务", "card.moreRepos": "以及其他 {n} 个仓库",
		"card.more.one": "以及其他 {n} 个服务", "card.moreRepos.one": "以及其他 {n} 个仓库",

		"type.update": "更新", "type.rollback": "回滚",
		"type.check":  "检查",
		"scope.all":   "全部服务",
		"scope.stack": "堆栈", "scope.service": "单个服务",
		"duration.short": "不到 1 秒", "duration.seconds": "{s} 秒", "duration.minutes": "{m} 分 {s} 秒", "duration.hours": "{h} 小时 {m} 分",
	}
}

func englishTexts() map[string]string {
	return map[string]string{
		"between":   ": ",
		"enum":      ", ",
		"hint":      "Note: no public base URL is configured for this instance (system settings), so these are paths within the site.",
		"more":      "... and {n} more services (omitted)",
		"moreRepos": "... and {n} more repositories (omitted)",
		"services":  "{n} services",
		"repos":     "{n} repositories",
		"more.one":  "... and {n} more service (omitted)", "moreRepos.one": "... and {n} more repository (omitted)",
		"services.one": "{n} service", "repos.one": "{n} repository",

		"open.job": "View job", "open.check": "View check job", "open.service": "View service", "open.settings": "Open settings",

		"job.title":           "Update finished ({status})",
		"job.status.success":  "succeeded",
		"job.status.failed":   "failed",
		"job.status.rolled":   "rolled back",
		"job.status.canceled": "canceled",
		"job.status.undone":   "canceled and undone",
		"job.success":         "{subject}: updated.",
		"job.failed":          "{subject}: the update failed.",
		"job.rolled":          "{subject}: the update failed and was rolled back.",
		"job.canceled":        "{subject}: the update was canceled.",
		"job.undone":          "{subject}: the update was canceled; the former version runs again.",
		"job.other":           "{subject}: the update has ended ({status}).",
		"job.subject.one":     "{service}",

		"job.subject.one.change": "{service} ({current} -> {candidate})",

		"job.subject.many":     "{n} services",
		"job.none.success":     "The update job succeeded; no service changed.",
		"job.none.failed":      "The update job failed.",
		"job.none.rolled":      "The update job failed and was rolled back.",
		"job.none.canceled":    "The update job was canceled.",
		"job.none.undone":      "The update job was canceled; the former version runs again.",
		"job.none.other":       "The update job has ended ({status}).",
		"job.changed":          "Updated services:",
		"job.affected":         "Services concerned:",
		"job.unchanged":        "Services whose update did not succeed:",
		"job.failure":          "Reason: {reason}",
		"job.excerpt":          "Error excerpt:",
		"job.card.kind":        "Update finished",
		"job.card.none":        "Update job",
		"version.many":         "{n} services have new versions",
		"version.many.summary": "{n} services have new versions:",
		"version.one":          "{service} has a new version.",
		"version.one.change":   "{service} has a new version ({current} -> {candidate}).",
		"version.item.change":  "{service} ({current} -> {candidate})",
		"version.card.kind":    "New version found",
		"version.card.status":  "New version",
		"version.card.change":  "{current} → {candidate}",
		"anomaly.title":        "GHCR webhook audit: anomalies",
		"anomaly.summary":      "The audit found repositories with anomalies ({n}): {repos}.",
		"anomaly.summary.none": "The audit found repositories with anomalies ({n}).",
		"anomaly.counts":       "{missing} missing, {conflict} in conflict, {error} in error",
		"anomaly.state":        "{repo} [{state}]",
		"anomaly.error":        "{repo} [{state}]: {error}",
		"anomaly.head":         "Repositories with anomalies:",
		"anomaly.card.kind":    "Webhook audit",
		"anomaly.card.status":  "Anomaly",
		"state.missing":        "missing", "state.conflict": "conflict", "state.error": "error",
		"test.title": "Notification test", "test.message": "Patchbay test", "test.all": "all channels", "test.card.status": "Test",

		"card.scoped": "{type} ({scope})", "card.type": "Type", "card.services": "Services", "card.duration": "Took", "card.finished": "Finished",
		"card.version": "Version", "card.checked": "Checked", "card.counts": "Counts", "card.channel": "Channel", "card.app": "Version",
		"card.more": "and {n} more services", "card.moreRepos": "and {n} more repositories",
		"card.more.one": "and {n} more service", "card.moreRepos.one": "and {n} more repository",

		"type.update": "Update", "type.rollback": "Rollback",
		"type.check":  "Check",
		"scope.all":   "all services",
		"scope.stack": "stack", "scope.service": "one service",
		"duration.short": "under 1 s", "duration.seconds": "{s} s", "duration.minutes": "{m} min {s} s", "duration.hours": "{h} h {m} min",
	}
}

func (w Writer) textTable() map[string]string {
	if w.Locale == english {
		return englishTexts()
	}
	return chineseTexts()
}

// fillText returns the text of a key, with pairs of names and values filled in. Values are taken as they are.
func (w Writer) fillText(key string, pairs ...string) string {
	for i := 0; i+1 < len(pairs); i += 2 {
		pairs[i] = "{" + pairs[i] + "}"
	}
	return strings.NewReplacer(pairs...).Replace(w.textTable()[key])
}

// textOrWord returns the text of a key, or the word itself where there is none.
func (w Writer) textOrWord(prefix, word string) string {
	if s, ok := w.textTable()[prefix+word]; ok {
		return s
	}
	return cleanName(word)
}

// countText returns a text about a number of things, of which one may be worded in its own way.
func (w Writer) countText(key string, n int) string {
	if _, ok := w.textTable()[key+".one"]; ok && n == 1 {
		key += ".one"
	}
	return w.fillText(key, "n", strconv.Itoa(n))
}

func (w Writer) formatDuration(d time.Duration) string {
	switch h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60; {
	case d < time.Second:
		return w.fillText("duration.short")
	case d < time.Minute:
		return w.fillText("duration.seconds", "s", strconv.Itoa(s))
	case d < time.Hour:
		return w.fillText("duration.minutes", "m", strconv.Itoa(m), "s", strconv.Itoa(s))
	default:
		return w.fillText("duration.hours", "h", strconv.Itoa(h), "m", strconv.Itoa(m))
	}
}
