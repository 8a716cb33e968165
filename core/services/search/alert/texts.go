package alert

import (
	"fmt"

	"github.com/patchbay-dev/patchbay/core/notify"
)

// alertText is the text of an alert in one language. Both may have verbs of package fmt, which take the same arguments.
type alertText struct{ Title, Text string }

// The texts of alerts that have no kind of their own: what was raised is over.
const (
	alertPoolUsable     = alertPoolEmpty + ".over"
	alertUpstreamWorks  = alertUpstreamErrors + ".over"
	alertBackendRemoved = "backend_removed"
)

// EnglishAlerts returns the texts in English, by their keys.
func EnglishAlerts() map[string]alertText {
	return map[string]alertText{
		alertPoolEmpty: {"No upstream key can be used",
			"The backend %s needs a key, and every key of the pool is invalid, exhausted, cooling down or disabled."},
		alertPoolUsable: {"Upstream keys can be used again", "The backend %s has had a usable key for a while."},
		alertUpstreamErrors: {"A search backend fails often",
			"Of %[2]d calls to %[1]s in the last %[4]s, %[3]d failed: an error of the upstream, or no answer."},
		alertUpstreamWorks:  {"A search backend answers again", "Of %[2]d calls to %[1]s in the last %[4]s, %[3]d failed."},
		AlertKeyInvalid:     {"An upstream key is invalid", "The upstream refuses the key %s. It is not used until somebody adds it again."},
		alertBackendRemoved: {"A search backend was removed", "The backend %s is not in use any more."},
	}
}

// ChineseAlerts returns the texts in Chinese, by their keys.
func ChineseAlerts() map[string]alertText {
	return map[string]alertText{
		alertPoolEmpty:      {"没有可用的上游密钥", "后端 %s 需要密钥，但密钥池中的所有密钥均已失效、耗尽、处于冷却期或被停用。"},
		alertPoolUsable:     {"上游密钥已恢复可用", "后端 %s 已有可用密钥并持续了一段时间。"},
		alertUpstreamErrors: {"搜索后端频繁失败", "最近 %[4]s 内对 %[1]s 的 %[2]d 次调用中有 %[3]d 次失败：上游出错或没有响应。"},
		alertUpstreamWorks:  {"搜索后端已恢复响应", "最近 %[4]s 内对 %[1]s 的 %[2]d 次调用中有 %[3]d 次失败。"},
		AlertKeyInvalid:     {"上游密钥已失效", "上游拒绝了密钥 %s。在重新添加之前不会再使用它。"},
		alertBackendRemoved: {"搜索后端已移除", "后端 %s 已不再使用。"},
	}
}

// WriteAlert returns a with the texts of key in a language: Chinese for "zh", else English.
func WriteAlert(locale, key string, a notify.Alert, args ...any) notify.Alert {
	texts := EnglishAlerts()
	if locale == "zh" {
		texts = ChineseAlerts()
	}
	a.Title, a.Text = texts[key].Title, fmt.Sprintf(texts[key].Text, args...)
	return a
}
