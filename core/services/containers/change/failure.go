package change

import (
	"encoding/json"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
)

// Failure is why a job did not succeed.
type Failure struct {
	// Code is a reason of the queue, one of the codes of this package, or the step that failed.
	Code string
	// rolledBack says that the former version runs again; it is false for a service that did not run before.
	rolledBack bool
}

// FindFailure returns why a job did not succeed, and the part of its summary that decided it; nil for none.
func FindFailure(j *queue.Job) (f Failure, part *ChangeSummary) {
	f = Failure{Code: j.Failure.Reason, rolledBack: j.State == queue.RolledBack}
	var sum UpdateSummary
	_ = json.Unmarshal(j.Result, &sum)
	part = sum.Deciding()
	f.rolledBack = f.rolledBack && (part == nil || part.Rollback == nil || !part.Rollback.Stopped)
	if f.Code == queue.ReasonCanceled && part != nil && !part.Canceled {
		// It had failed by itself before somebody canceled it.
		f.Code = ""
	}
	if _, known := FailureTexts()[f.Code]; known {
		return f, part
	}
	switch {
	case part == nil:
		f.Code = failure.Otherwise
		if j.Failure.Code == fault.RateLimited {
			f.Code = failure.RateLimited
		}
	case part.failureCode() == failure.RateLimited, part.failureCode() == failure.EngineAway:
		f.Code = part.failureCode()
	default:
		f.Code = part.FailureStep
	}
	return f, part
}

// failureCode returns why the failed service of a summary was not updated. Summaries that were stored without a code have its text.
func (c *ChangeSummary) failureCode() string {
	text := strings.ToLower(c.LastError)
	switch {
	case c.Reason != "":
		return c.Reason
	case strings.Contains(text, "limits requests"), strings.Contains(text, "toomanyrequests"), strings.Contains(text, "rate limit"):
		return failure.RateLimited
	}
	return failure.Otherwise
}

// failureText is the text of a code in both languages.
type failureText struct{ English, Chinese string }

// FailureTexts returns the texts of the codes of failures.
func FailureTexts() map[string]failureText {
	undone := failureText{"The update failed, and so did the rollback.", "更新失败，回滚也失败。"}
	return map[string]failureText{
		failure.Canceled:        {failure.CanceledText, "任务已取消。"},
		queue.ReasonInterrupted: {"The core ended while the job ran.", "任务运行期间程序退出。"},
		queue.ReasonTimeout:     {"The job took too long.", "任务超时。"},
		failure.RateLimited:     {"The registry limits requests.", "镜像仓库限制了请求。"},
		failure.EngineAway:      {"The container engine went away and did not come back in time.", "容器引擎中断，且未能及时恢复。"},
		failure.Otherwise:       {"The job failed.", "任务失败。"},
		stepPrecheck:            {"A check before the update failed, so nothing was changed.", "更新前的检查未通过，未做任何更改。"},
		StepPull:                {"The new image could not be pulled.", "无法拉取新镜像。"},
		StepBackup:              {"The backup failed, so nothing was changed.", "备份失败，未做任何更改。"},
		StepTag:                 {"The new image could not be tagged.", "无法为新镜像打标签。"},
		StepUp:                  {"The container could not be recreated.", "无法重新创建容器。"},
		StepHealth:              {"The new container did not become healthy.", "新容器未能变为健康状态。"},
		StepSync:                {"The tag of the image could not be updated.", "无法设置镜像名称。"},
		StepRollbackTag:         undone,
		StepRollbackUp:          undone,
		StepRollbackWait:        undone,
	}
}

// LocalizedText returns the failure in words, in Chinese for "zh", else in English.
func (f Failure) LocalizedText(locale string) string {
	t, known := FailureTexts()[f.Code]
	if !known {
		t = FailureTexts()[failure.Otherwise]
	}
	switch {
	case locale == "zh" && f.rolledBack:
		return t.Chinese + "之前的版本已恢复运行。"
	case locale == "zh":
		return t.Chinese
	case f.rolledBack:
		return t.English + " The former version runs again."
	}
	return t.English
}
