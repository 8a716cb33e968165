package api

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
	"github.com/patchbay-dev/patchbay/core/services/releases/translate"
	"github.com/patchbay-dev/patchbay/core/services/releases/translation"
)

// translateHandlers answers with translations.
type translateHandlers struct {
	readers      *reader.Readers
	translator   *translation.Translator
	translations *translate.Translations
}

const tagTranslate = "Translation"

const (
	// maxTranslations is how many items a request, and a legacy batch, has; maxDetails how many a batch of whole texts has.
	maxTranslations, maxDetails = 60, 20
	// maxWait bounds max_wait_ms.
	maxWait = time.Minute
	// defaultWait is how long mode=wait waits without max_wait_ms.
	defaultWait = 30 * time.Second
)

// TranslationInput asks for a translation.
type TranslationInput struct {
	ProducerRef  string        `json:"producer_ref" minLength:"1" maxLength:"200" doc:"The caller's own word, which comes back."`
	Kind         string        `json:"kind" enum:"release_summary,release_smart,release_detail,notification"`
	Variant      string        `json:"variant" minLength:"1" maxLength:"100" doc:"The caller's own word."`
	EntityID     string        `json:"entity_id" minLength:"1" maxLength:"200" doc:"The id of a release, or of a notification's thread."`
	TargetLang   string        `json:"target_lang" minLength:"1" maxLength:"35" example:"zh-CN"`
	MaxWaitMs    *float64      `json:"max_wait_ms,omitempty" doc:"How long mode=wait waits; clamped to 0 to 60000."`
	SourceBlocks []SourceBlock `json:"source_blocks" minItems:"1" maxItems:"16" doc:"What the caller has seen. What is translated is the text as it is stored."`
	TargetSlots  []string      `json:"target_slots" minItems:"1" maxItems:"3" enum:"title_zh,summary_md,body_md"`
}

// SourceBlock is a text that the caller has seen.
type SourceBlock struct {
	Slot string `json:"slot" enum:"title,excerpt,body_markdown,metadata"`
	Text string `json:"text" minLength:"1" maxLength:"400000"`
}

// TranslationBody is the body of a request for translations.
type TranslationBody struct {
	Mode  string             `json:"mode" enum:"async,wait,stream"`
	Item  *TranslationInput  `json:"item,omitempty"`
	Items []TranslationInput `json:"items,omitempty" maxItems:"60" doc:"Instead of item, with mode=async."`
}

// TranslationResult is what came of a request, or how far it is.
type TranslationResult struct {
	ProducerRef  string  `json:"producer_ref"`
	EntityID     string  `json:"entity_id"`
	Kind         string  `json:"kind"`
	Variant      string  `json:"variant"`
	Status       string  `json:"status" enum:"queued,running,ready,disabled,missing,error,insufficient"`
	TitleZh      *string `json:"title_zh"`
	SummaryMd    *string `json:"summary_md"`
	BodyMd       *string `json:"body_md"`
	Error        *string `json:"error"`
	WorkItemID   *string `json:"work_item_id"`
	BatchID      *string `json:"batch_id"`
	ErrorCode    *string `json:"error_code"`
	ErrorSummary *string `json:"error_summary"`
	ErrorDetail  *string `json:"error_detail"`
}

// TranslationAnswer is a request with its result.
type TranslationAnswer struct {
	RequestID string            `json:"request_id"`
	Status    string            `json:"status" enum:"queued,running,completed,failed"`
	Result    TranslationResult `json:"result"`
}

// TranslationAccepted is one of several requests that were accepted.
type TranslationAccepted struct {
	RequestID   string `json:"request_id"`
	Status      string `json:"status" enum:"queued,running,completed,failed"`
	ProducerRef string `json:"producer_ref"`
	EntityID    string `json:"entity_id"`
	Kind        string `json:"kind"`
	Variant     string `json:"variant"`
}

// TranslationsAccepted are the requests that were accepted.
type TranslationsAccepted struct {
	Requests []TranslationAccepted `json:"requests" nullable:"false"`
}

type (
	resultsInput struct {
		Body struct {
			Items        []TranslationInput `json:"items" minItems:"1" maxItems:"60"`
			RetryOnError bool               `json:"retry_on_error,omitempty" doc:"Try once more what has failed."`
		}
	}
	resultsOutputBody struct {
		Items []TranslationResult `json:"items" nullable:"false"`
	}
	requestInput struct {
		ID string `path:"request_id" maxLength:"64"`
	}
)

// translateAPI declares the endpoints of translations. serveTask runs a task.
func (h *translateHandlers) translateAPI(a *api.API, serveTask func(c *gin.Context, task string)) {
	stream := &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	answers := api.JSON(&huma.Schema{AnyOf: []*huma.Schema{api.Schema[TranslationAnswer](a), api.Schema[TranslationsAccepted](a)}})
	answers[sseType] = stream
	a.Document(httpd.Route{Method: http.MethodPost, Path: "/api/translate/requests", Policy: httpd.APIKey, Audit: httpd.Unaudited,
		Handler: h.serveTranslationRequest}, huma.Operation{
		OperationID: "translation-request", Tags: []string{tagTranslate}, Summary: "Ask for translations",
		Description: "mode=async answers at once, wait when the translation is there or max_wait_ms is over, and stream with the events of the request. The same text is translated once, whoever asks.",
		RequestBody: &huma.RequestBody{Required: true, Content: api.JSON(api.Schema[TranslationBody](a))},
		Responses: map[string]*huma.Response{"200": {Description: "The request or the requests, or the events.", Content: answers},
			"400": a.ErrorResponse("A member is not valid")},
	})
	get := withText(newOperation("translation", http.MethodGet, "/api/translate/requests/{request_id}", tagTranslate, httpd.APIKey,
		"A request for a translation", http.StatusNotFound), "Requests are kept for a week.")
	api.Register(a, get, h.getTranslation)
	a.Document(httpd.Route{Method: http.MethodGet, Path: "/api/translate/requests/:request_id/stream", Policy: httpd.APIKey,
		Handler: h.serveTranslationStream}, huma.Operation{
		OperationID: "translation-events", Tags: []string{tagTranslate}, Summary: "The events of a request",
		Description: "One for each phase: queued, batched, running, and last completed or failed with the result. To go on after a cut, send the id of the last event as the header Last-Event-ID.",
		Parameters:  []*huma.Param{{Name: "request_id", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}}},
		Responses: map[string]*huma.Response{"200": {Description: "The stream.", Content: map[string]*huma.MediaType{sseType: stream}},
			"404": a.ErrorResponse("There is no such request of the caller")},
	})
	results := withText(newOperation("translation-results", http.MethodPost, "/api/translate/results", tagTranslate, httpd.APIKey,
		"The results of translations"),
		"Those that nobody has asked for yet are queued. To poll costs nothing.")
	results.Audit = httpd.Unaudited
	api.Register(a, results, h.listTranslationResults)
	h.declareLegacyTranslation(a, serveTask)
}

func badTranslation(field, format string, args ...any) error {
	return fault.New(fault.BadRequest, format, args...).With("field", field)
}

// checkInput returns what is wrong with an input. prefix is where it stands in the body.
func (h *translateHandlers) checkInput(in *TranslationInput, prefix string) error {
	for _, given := range []struct {
		field, value string
		limit        int
	}{
		{"producer_ref", in.ProducerRef, 200}, {"variant", in.Variant, 100}, {"entity_id", in.EntityID, 200}, {"target_lang", in.TargetLang, 35},
	} {
		if n := len([]rune(strings.TrimSpace(given.value))); n < 1 || n > given.limit {
			return badTranslation(prefix+given.field, "%s must have 1 to %d characters.", prefix+given.field, given.limit)
		}
	}
	switch {
	case !slices.Contains([]string{translation.KindSummary, translation.KindSmart, translation.KindDetail, translation.KindNotification},
		in.Kind):
		return badTranslation(prefix+"kind", "%skind must be release_summary, release_smart, release_detail or notification.", prefix)
	case !reader.HasLanguage(h.readers.Languages(), in.TargetLang):
		return badTranslation(prefix+"target_lang", "%starget_lang must be one of %s.", prefix, strings.Join(h.readers.Languages(), ", "))
	case len(in.SourceBlocks) < 1 || len(in.SourceBlocks) > 16:
		return badTranslation(prefix+"source_blocks", "%ssource_blocks must have 1 to 16 blocks.", prefix)
	case len(in.TargetSlots) < 1:
		return badTranslation(prefix+"target_slots", "%starget_slots must name one slot at least.", prefix)
	}
	for _, b := range in.SourceBlocks {
		if !slices.Contains([]string{"title", "excerpt", "body_markdown", "metadata"}, b.Slot) || strings.TrimSpace(b.Text) == "" {
			return badTranslation(prefix+"source_blocks",
				"%ssource_blocks must have a text each, with the slot title, excerpt, body_markdown or metadata.", prefix)
		}
	}
	for i, slot := range in.TargetSlots {
		if !slices.Contains([]string{slotTitle, slotSummary, slotBody}, slot) || slices.Index(in.TargetSlots, slot) < i {
			return badTranslation(prefix+"target_slots", "%starget_slots must be title_zh, summary_md or body_md, each once.", prefix)
		}
	}
	return nil
}

const (
	slotTitle   = "title_zh"
	slotSummary = "summary_md"
	slotBody    = "body_md"
)

// wait returns how long to wait for a request.
func (in *TranslationInput) wait() time.Duration {
	if in.MaxWaitMs == nil {
		return defaultWait
	}
	return time.Duration(min(max(*in.MaxWaitMs, 0), float64(maxWait.Milliseconds())) * float64(time.Millisecond))
}

// askInputs returns what the inputs of a user ask for.
func (h *translateHandlers) askInputs(ctx context.Context, userID string, inputs []TranslationInput, priority int,
	retry bool) ([]translate.Asked, error) {
	asked := make([]translate.Asked, len(inputs))
	for i := range inputs {
		in := &inputs[i]
		r := translate.Request{UserID: userID, ProducerRef: in.ProducerRef, Kind: in.Kind, Variant: in.Variant, EntityID: in.EntityID,
			Language: in.TargetLang}
		r.SetSlots(in.TargetSlots)
		linger := min(in.wait()/4, translation.MaxLinger)
		if priority == translate.Interactive {
			linger = min(linger, translation.ShortLinger)
		}
		var err error
		if asked[i], err = h.translator.AskFor(ctx, r, priority, linger, retry); err != nil {
			return nil, err
		}
	}
	return asked, nil
}

// requestStatus returns the status of a request whose work is in a state.
func requestStatus(w translate.Work) string {
	switch {
	case w.State == translate.Batched:
		return string(translate.Queued)
	case w.Outcome == translate.Missing || w.Outcome == translate.Failure:
		return string(translate.Failed)
	}
	return string(w.State)
}

// newResult returns the result of a request, or how far it is.
func newResult(r *translate.Request, w translate.Work) TranslationResult {
	out := TranslationResult{
		ProducerRef: r.ProducerRef, EntityID: r.EntityID, Kind: r.Kind, Variant: r.Variant, Status: string(w.Outcome),
		WorkItemID: api.TextOrNull(w.ID), BatchID: api.TextOrNull(w.BatchID),
	}
	if !w.State.Final() {
		out.Status = requestStatus(w)
		return out
	}
	if w.Outcome == translate.Ready {
		for slot, text := range map[string]**string{slotTitle: &out.TitleZh, slotSummary: &out.SummaryMd, slotBody: &out.BodyMd} {
			value := w.OutBody
			if slot == slotTitle {
				value = w.OutTitle
			}
			if r.Wants(slot) {
				*text = api.TextOrNull(value)
			}
		}
	}
	if w.ErrorCode != "" {
		summary := translation.ErrorSummary(w.ErrorCode, r.Language)
		out.ErrorCode, out.ErrorSummary, out.ErrorDetail = &w.ErrorCode, &summary, api.TextOrNull(w.ErrorDetail)
		if w.Outcome == translate.Failure {
			out.Error = &summary
		}
	}
	return out
}

func newAnswer(r *translate.Request, w translate.Work) TranslationAnswer {
	return TranslationAnswer{r.ID, requestStatus(w), newResult(r, w)}
}

func (h *translateHandlers) getTranslation(ctx context.Context, in *requestInput) (*api.Out[TranslationAnswer], error) {
	r, w, err := h.translations.FindRequest(ctx, reader.ID(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return api.AnswerWith(newAnswer(&r, w), nil)
}

func (h *translateHandlers) listTranslationResults(ctx context.Context, in *resultsInput) (*api.Out[resultsOutputBody], error) {
	userID, err := reader.OwnerID(ctx)
	if err != nil {
		return nil, err
	}
	for i := range in.Body.Items {
		if err := h.checkInput(&in.Body.Items[i], ""); err != nil {
			return nil, err
		}
	}
	asked, err := h.askInputs(ctx, userID, in.Body.Items, translate.Background, in.Body.RetryOnError)
	if err != nil {
		return nil, err
	}
	works, err := h.translations.Works(ctx, asked)
	if err != nil {
		return nil, err
	}
	out := &api.Out[resultsOutputBody]{}
	out.Body.Items = make([]TranslationResult, len(works))
	for i, w := range works {
		out.Body.Items[i] = newResult(&asked[i].Request, w)
	}
	return out, nil
}

// readTranslationBody reads the body of a request for translations.
func (h *translateHandlers) readTranslationBody(c *gin.Context) (body TranslationBody, err error) {
	raw, err := httpd.ReadBody(c)
	if err != nil {
		return body, err
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return body, badTranslation("", "The body must be a JSON object with mode and item or items.")
	}
	switch {
	case body.Mode != modeAsync && body.Mode != modeWait && body.Mode != modeStream:
		return body, badTranslation("mode", "mode must be async, wait or stream.")
	case body.Item != nil && body.Items != nil:
		return body, badTranslation("items", "item and items exclude each other.")
	case body.Item == nil && len(body.Items) == 0:
		return body, badTranslation("item", "item or items is required.")
	case body.Items != nil && body.Mode != modeAsync:
		return body, badTranslation("mode", "items need mode=async.")
	case len(body.Items) > maxTranslations:
		return body, badTranslation("items", "items may be %d at most.", maxTranslations)
	}
	if body.Item != nil {
		return body, h.checkInput(body.Item, "item.")
	}
	for i := range body.Items {
		if err := h.checkInput(&body.Items[i], "items."); err != nil {
			return body, err
		}
	}
	return body, nil
}

const (
	modeAsync  = "async"
	modeWait   = "wait"
	modeStream = "stream"
)
