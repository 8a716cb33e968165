package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/services/releases/task"
	"github.com/patchbay-dev/patchbay/core/services/releases/translate"
	"github.com/patchbay-dev/patchbay/core/services/releases/translation"
)

// TranslationItem is the translation of one of several things.
type TranslationItem struct {
	ID      string  `json:"id"`
	Lang    string  `json:"lang" example:"zh-CN"`
	Status  string  `json:"status" enum:"ready,disabled,missing,error,processing"`
	Title   *string `json:"title"`
	Summary *string `json:"summary"`
	Error   *string `json:"error"`
}

// TranslationList are the translations of several things.
type TranslationList struct {
	Items []TranslationItem `json:"items" nullable:"false"`
}

// BatchEvent is a line of a stream of translations.
type BatchEvent struct {
	Event string           `json:"event" enum:"item,done,error"`
	Item  *TranslationItem `json:"item,omitempty"`
	Error *string          `json:"error,omitempty"`
}

type (
	translateReleaseBody struct {
		ReleaseID string `json:"release_id"`
	}
	translateThreadBody struct {
		ThreadID string `json:"thread_id"`
	}
	translateReleasesBody struct {
		ReleaseIDs []string `json:"release_ids" minItems:"1"`
	}
	translateThreadsBody struct {
		ThreadIDs []string `json:"thread_ids" minItems:"1"`
	}
)

// legacyWait is how long the endpoints that answer with translations wait for them.
const legacyWait = 100 * time.Second

const ndjsonType = "application/x-ndjson"

// declareLegacyTranslation declares the endpoints that answer with translations themselves.
func (h *translateHandlers) declareLegacyTranslation(a *api.API, serveTask func(c *gin.Context, task string)) {
	document := func(id, path, summary, text string, body *huma.Schema, answer map[string]*huma.MediaType, handle gin.HandlerFunc,
		params ...*huma.Param) {
		a.Document(httpd.Route{Method: http.MethodPost, Path: path, Policy: httpd.APIKey, Audit: httpd.Unaudited, Handler: handle},
			huma.Operation{
				OperationID: id, Tags: []string{tagTranslate}, Summary: summary, Description: text, Parameters: params,
				RequestBody: &huma.RequestBody{Required: true, Content: api.JSON(body)},
				Responses: map[string]*huma.Response{
					"200": {Description: "The translations.", Content: answer}, "400": a.ErrorResponse("A member is not valid"),
					"404": a.ErrorResponse("There is no such thing that the caller sees"),
				},
			})
	}
	mode := returnModeParam()
	one := func(id, path, task, summary string, body *huma.Schema) {
		answer := api.JSON(&huma.Schema{AnyOf: []*huma.Schema{api.Schema[translation.Translation](a), api.Schema[TaskAccepted](a)}})
		answer[sseType] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
		document(id, path, summary, "", body, answer, func(c *gin.Context) { serveTask(c, task) }, mode)
	}
	one("translate-release", "/api/translate/release", task.TranslateRelease, "Translate a release as lists show it",
		api.Schema[translateReleaseBody](a))
	one("translate-release-detail", "/api/translate/release/detail", task.TranslateDetail, "Translate the whole text of a release",
		api.Schema[translateReleaseBody](a))
	one("translate-notification", "/api/translate/notification", task.TranslateNotification, "Translate a notification",
		api.Schema[translateThreadBody](a))
	list := api.JSON(api.Schema[TranslationList](a))
	some := func(id, path, kind, summary string, most int, body *huma.Schema) {
		document(id, path, summary, "What is not there in time is processing; ask for it again.", body, list,
			func(c *gin.Context) { h.serveTranslations(c, kind, most, false) })
	}
	releases := api.Schema[translateReleasesBody](a)
	some("translate-releases", "/api/translate/releases/batch", translation.KindSummary, "Translate up to 60 releases as lists show them",
		maxTranslations, releases)
	some("translate-release-details", "/api/translate/release/detail/batch", translation.KindDetail,
		"Translate the whole texts of up to 20 releases", maxDetails, releases)
	some("translate-notifications", "/api/translate/notifications/batch", translation.KindNotification, "Translate up to 60 notifications",
		maxTranslations, api.Schema[translateThreadsBody](a))
	document("translate-releases-stream", "/api/translate/releases/batch/stream",
		"Translate up to 60 releases, each line as soon as it is there",
		"Lines of JSON: item for each release, and last done or error. After a cut, ask again: what is translated comes at once.", releases,
		map[string]*huma.MediaType{ndjsonType: {Schema: api.Schema[BatchEvent](a)}},
		func(c *gin.Context) { h.serveTranslations(c, translation.KindSummary, maxTranslations, true) })
}

// readIDs reads the ids of a body.
func readIDs(c *gin.Context, kind string, most int) ([]string, error) {
	raw, err := httpd.ReadBody(c)
	if err != nil {
		return nil, err
	}
	field := "release_ids"
	if kind == translation.KindNotification {
		field = "thread_ids"
	}
	var body map[string]json.RawMessage
	var ids []string
	if json.Unmarshal(raw, &body) != nil || json.Unmarshal(body[field], &ids) != nil || len(ids) < 1 || len(ids) > most {
		return nil, badTranslation(field, "%s must be a list of 1 to %d ids.", field, most)
	}
	var out []string
	for _, id := range ids {
		if kind != translation.KindNotification {
			if _, err := repo.ParseReleaseID(id); err != nil {
				return nil, badTranslation(field, "%s must be ids of releases: whole numbers as text.", field)
			}
		}
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out, nil
}

// serveTranslations answers with the translations of several things, in lines if streamed.
func (h *translateHandlers) serveTranslations(c *gin.Context, kind string, most int, streamed bool) {
	ctx := c.Request.Context()
	userID, err := reader.OwnerID(ctx)
	var ids []string
	if err == nil {
		ids, err = readIDs(c, kind, most)
	}
	asked := make([]translate.Asked, len(ids))
	for i, id := range ids {
		if err == nil {
			asked[i], err = h.translator.AskFor(ctx, translate.Request{UserID: userID, Kind: kind, EntityID: id, Language: reader.DefaultLanguage},
				translate.Interactive, translation.ShortLinger, false)
		}
	}
	var works []translate.Work
	if err == nil {
		works, err = h.translations.Works(ctx, asked)
	}
	if err == nil && streamed {
		h.streamTranslations(c, ids, works)
		return
	}
	if err == nil {
		works, err = h.translator.Wait(ctx, works, legacyWait, nil)
	}
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	out := TranslationList{make([]TranslationItem, len(ids))}
	for i, id := range ids {
		out.Items[i] = translationItem(id, works[i])
	}
	c.Header("Cache-Control", "no-store")
	c.JSON(http.StatusOK, out)
}

// translationItem returns a work as answers about several things have it.
func translationItem(id string, w translate.Work) TranslationItem {
	out := TranslationItem{ID: id, Lang: reader.DefaultLanguage, Status: string(w.Outcome)}
	if !w.State.Final() {
		out.Status = "processing"
		return out
	}
	out.Title, out.Summary = api.TextOrNull(w.OutTitle), api.TextOrNull(w.OutBody)
	if w.ErrorCode != "" {
		summary := translation.ErrorSummary(w.ErrorCode, reader.DefaultLanguage)
		out.Error = &summary
	}
	return out
}

// streamTranslations sends a line for each work as soon as it has ended.
func (h *translateHandlers) streamTranslations(c *gin.Context, ids []string, works []translate.Work) {
	release, err := auth.AcquireStream(c)
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	defer release()
	c.Header("Content-Type", ndjsonType+"; charset=utf-8")
	httpd.StreamHeaders(c.Writer.Header())
	c.Status(http.StatusOK)
	out := http.NewResponseController(c.Writer)
	// The header goes before the first line, which may be a minute away.
	_ = out.Flush()
	send := func(e BatchEvent) error {
		raw, err := json.Marshal(e)
		if err == nil {
			_ = out.SetWriteDeadline(time.Now().Add(httpd.Heartbeat))
			_, err = c.Writer.Write(append(raw, '\n'))
		}
		if err == nil {
			err = out.Flush()
		}
		return err
	}
	ctx := c.Request.Context()
	works, err = h.translator.Wait(ctx, works, legacyWait, func(i int, w translate.Work) error {
		item := translationItem(ids[i], w)
		return send(BatchEvent{Event: "item", Item: &item})
	})
	if ctx.Err() != nil {
		return
	}
	for i, w := range works {
		if err == nil && !w.State.Final() {
			item := translationItem(ids[i], w)
			err = send(BatchEvent{Event: "item", Item: &item})
		}
	}
	if err != nil {
		message := fault.As(err).Message
		_ = send(BatchEvent{Event: "error", Error: &message})
		return
	}
	_ = send(BatchEvent{Event: "done"})
}

// readEntityID reads what a request wants translated.
func readEntityID(c *gin.Context, kind string) (string, error) {
	raw, err := httpd.ReadBody(c)
	if err != nil {
		return "", err
	}
	field := "release_id"
	if kind == translation.KindNotification {
		field = "thread_id"
	}
	var body map[string]json.RawMessage
	var id string
	if json.Unmarshal(raw, &body) != nil || json.Unmarshal(body[field], &id) != nil || id == "" || len(id) > 200 {
		return "", badTranslation(field, "The body must be a JSON object with the text %s.", field)
	}
	if kind != translation.KindNotification {
		_, err = repo.ParseReleaseID(id)
	}
	return id, err
}

// serveTranslation answers with the translation of one thing.
func (h *translateHandlers) serveTranslation(c *gin.Context, in translation.Wanted) {
	ctx := c.Request.Context()
	w, err := h.translator.DemandOne(ctx, in)
	var works []translate.Work
	if err == nil {
		works, err = h.translator.Wait(ctx, []translate.Work{w}, legacyWait, nil)
	}
	var out translation.Translation
	if err == nil {
		out, err = translation.TranslationOf(works[0])
	}
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	c.Header("Cache-Control", "no-store")
	c.JSON(http.StatusOK, out)
}
