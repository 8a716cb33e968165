package containers

import "strings"

// chinese are the reasons for which jobs fail, for notifications in Chinese.
var chinese = map[string]string{
	"The job was canceled.":                       "任务已取消。",
	"The core ended while the job ran.":           "任务运行期间程序退出。",
	"The job took too long.":                      "任务超时。",
	"The registry limits requests.":               "镜像仓库限制了请求。",
	"The job failed.":                             "任务失败。",
	"The new image could not be pulled.":          "无法拉取新镜像。",
	stepFailure[stepPrecheck]:                     "更新前的检查未通过，未做任何更改。",
	"The backup failed, so nothing was changed.":  "备份失败，未做任何更改。",
	"The new image could not be named.":           "无法为新镜像打标签。",
	"The container could not be recreated.":       "无法重新创建容器。",
	"The new container did not become healthy.":   "新容器未能变为健康状态。",
	"The name of the image could not be set.":     "无法设置镜像名称。",
	"The update failed, and so did the rollback.": "更新失败，回滚也失败。",
	backAgain: "之前的版本已恢复运行。",
}

// backAgain is what follows the reason of a job that was rolled back.
const backAgain = "The former version runs again."

// reasonIn is a reason in a language. What has no translation stays as it is.
func reasonIn(locale, text string) string {
	if locale == "en" {
		return text
	}
	first, back := strings.CutSuffix(text, " "+backAgain)
	if known, ok := chinese[first]; ok {
		first = known
	}
	if back {
		first += chinese[backAgain]
	}
	return first
}
