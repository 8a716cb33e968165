package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/conformance/internal/suite"
	"github.com/patchbay-dev/patchbay/sdk/conformance/report"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// TranslatorFault is something that a service of language models does wrong.
type TranslatorFault string

// The faults.
const (
	// TranslatorDown: no request reaches the service.
	TranslatorDown TranslatorFault = "down"
	// TranslatorGarbage: every answer of the service is one that cannot be read, such as a page of a proxy.
	TranslatorGarbage TranslatorFault = "garbage"
	// TranslatorBadAnswer: the service answers properly, and what the model says is not what it was asked for.
	TranslatorBadAnswer TranslatorFault = "bad-answer"
	// TranslatorLimited: the service limits requests (429) for a minute.
	TranslatorLimited TranslatorFault = "limited"
	// TranslatorQuota: the account is used up.
	TranslatorQuota TranslatorFault = "quota"
	// TranslatorDenied: the service refuses the credential.
	TranslatorDenied TranslatorFault = "denied"
	// TranslatorSlow: the service does not answer within 10 seconds.
	TranslatorSlow TranslatorFault = "slow"
)

// TranslatorConfig tells how to use a plugin of the kind translator.
type TranslatorConfig struct {
	// JSON is a config block that the plugin accepts; empty means one without members. Invalid are blocks that it must
	// refuse, beyond those that the suite makes from the schema.
	JSON    string
	Invalid []string
	// TargetLanguage is the language that short texts are translated into; empty leaves out the checks that call a model.
	TargetLanguage string
	// Fault has the service do something wrong until the function that it returns is called; nil is returned for a fault
	// that cannot be had. Nil leaves those checks out.
	Fault func(TranslatorFault) (undo func())
	// Secrets are credentials of the configuration that must not be given away.
	Secrets []string
	// BaseDir is the directory of the configuration file.
	BaseDir string
	// Logs returns what the plugin has logged so far; nil if that cannot be known.
	Logs func() string
	// Timeout bounds each call (30 s). Prompt bounds the end of a call whose context has ended, and the removal of an
	// instance that serves no call (5 s).
	Timeout, Prompt time.Duration
}

type translatorRun struct {
	*suite.Run
	cfg TranslatorConfig
}

// Translator runs all checks of the translator kind over a connection to a plugin. The plugin is stopped at the end; its
// process is the caller's to end.
func Translator(ctx context.Context, conn grpc.ClientConnInterface, cfg TranslatorConfig) report.Report {
	b, done := suite.New(conn, translator.Kind, translator.Service, suite.Settings{
		JSON: cfg.JSON, Invalid: cfg.Invalid, BaseDir: cfg.BaseDir, Logs: cfg.Logs, Timeout: cfg.Timeout, Prompt: cfg.Prompt,
		Secrets: cfg.Secrets,
	})
	defer done()
	r := &translatorRun{Run: b, cfg: cfg}
	b.Answers = func(ctx context.Context, id string) bool {
		_, err := r.listModels(ctx, id)
		return suite.IsPresent(err)
	}
	return r.Perform(ctx, suite.Checks{List: []suite.Check{
		{Name: "unknown-instance", Perform: r.unknownInstance},
		{Name: "bad-request", Perform: r.badRequest},
		{Name: "models", Perform: r.checkModels},
		{Name: "translate", Perform: r.translateParts},
		{Name: "masks", Perform: r.keepMasks},
		{Name: "summarize", Perform: r.checkSummarize},
		{Name: "concurrency", Perform: r.checkConcurrency},
		{Name: "bad-answer", Perform: r.badAnswer},
		{Name: "down", Perform: r.failsWith(TranslatorDown, "", codes.Unavailable)},
		{Name: "garbage", Perform: r.failsWith(TranslatorGarbage, errs.ReasonProtocol, codes.Unavailable)},
		{Name: "limited", Perform: r.failsWith(TranslatorLimited, translator.ReasonRateLimited, codes.ResourceExhausted)},
		{Name: "quota", Perform: r.failsWith(TranslatorQuota, translator.ReasonQuota, codes.ResourceExhausted)},
		{Name: "denied", Perform: r.failsWith(TranslatorDenied, "", codes.Unauthenticated, codes.PermissionDenied)},
		{Name: "cancel", Perform: suite.CancelEarly(r.cutShort)},
		{Name: "deadline", Perform: suite.ExpireEarly(r.cutShort)},
	}})
}

func (r *translatorRun) clientAt(id string) *translator.Client {
	return translator.NewClient(r.Conn, id)
}

func (r *translatorRun) listModels(ctx context.Context, id string) ([]translator.Model, error) {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	models, err := r.clientAt(id).ListModels(ctx)
	return models, r.InspectError("list models", err)
}

// askTranslator makes a request and looks at all that comes back.
func (r *translatorRun) askTranslator(ctx context.Context, id string, req translator.Request) (*translator.Answer, error) {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	answer, err := r.clientAt(id).Translate(ctx, req)
	if err != nil {
		return nil, r.InspectError("translate", err)
	}
	r.NoteSecrets("answer of translate", answer.Problem)
	for _, p := range answer.Parts {
		r.NoteSecrets("answer of translate", p.Text)
	}
	for _, a := range answer.Attempts {
		r.NoteSecrets("attempts of translate", a.Message)
	}
	return answer, nil
}

// newSample is the request that the checks make.
func (r *translatorRun) newSample() translator.Request {
	target := r.cfg.TargetLanguage
	if target == "" {
		target = "zh-CN"
	}
	return translator.Request{Task: translator.Translate, TargetLanguage: target, Parts: []translator.Part{
		{Name: "title", Text: "Version 1.2 is faster"},
		{Name: "body", Text: "## Changes\n\n- The parser is twice as fast.\n- Errors name the line.\n", Markdown: true},
	}}
}

func (r *translatorRun) unknownInstance(ctx context.Context) error {
	return errors.Join(
		r.CheckUnknownInstances(func(id string) error { _, err := r.listModels(ctx, id); return err }),
		r.CheckUnknownInstances(func(id string) error { _, err := r.askTranslator(ctx, id, r.newSample()); return err }))
}

func (r *translatorRun) badRequest(ctx context.Context) error {
	for what, change := range map[string]func(*translator.Request){
		"no task":                    func(q *translator.Request) { q.Task = "" },
		"no target language":         func(q *translator.Request) { q.TargetLanguage = "" },
		"a language that is none":    func(q *translator.Request) { q.TargetLanguage = "chinese please" },
		"no parts":                   func(q *translator.Request) { q.Parts = nil },
		"a part without a text":      func(q *translator.Request) { q.Parts[0].Text = " \n" },
		"two parts of the same name": func(q *translator.Request) { q.Parts[1].Name = q.Parts[0].Name },
		"too long a text": func(q *translator.Request) {
			q.Parts[0].Text = strings.Repeat("x", translator.MaxText+1)
		},
		"too many parts": func(q *translator.Request) {
			q.Parts = nil
			for i := range translator.MaxParts + 1 {
				q.Parts = append(q.Parts, translator.Part{Name: fmt.Sprint(i), Text: "x"})
			}
		},
		"too long a correction": func(q *translator.Request) { q.Correction = strings.Repeat("x", translator.MaxCorrection+1) },
	} {
		req := r.newSample()
		change(&req)
		_, err := r.askTranslator(ctx, r.MainID, req)
		if err := suite.RequireCallerFault("a request with "+what, err); err != nil {
			return err
		}
	}
	return nil
}

func (r *translatorRun) checkModels(ctx context.Context) error {
	models, err := r.listModels(ctx, r.MainID)
	if err != nil {
		return err
	}
	if len(models) == 0 {
		return errors.New("there is no model")
	}
	seen := map[string]bool{}
	for _, m := range models {
		if m.Name == "" || seen[m.Name] || m.MaxInputTokens < 0 || !m.CoolingUntil.IsZero() {
			return fmt.Errorf("the model %+v needs a name of its own, and has made no call that it could cool down from", m)
		}
		seen[m.Name] = true
	}
	return nil
}
