package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc"

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
	*base
	cfg TranslatorConfig
}

// Translator runs all checks of the translator kind over a connection to a plugin. The plugin is stopped at the end; its
// process is the caller's to end.
func Translator(ctx context.Context, conn grpc.ClientConnInterface, cfg TranslatorConfig) Report {
	b, done := newBase(conn, translator.Kind, translator.Service, common{
		json: cfg.JSON, invalid: cfg.Invalid, baseDir: cfg.BaseDir, logs: cfg.Logs, timeout: cfg.Timeout, prompt: cfg.Prompt, secrets: cfg.Secrets,
	})
	defer done()
	r := &translatorRun{base: b, cfg: cfg}
	b.answers = func(ctx context.Context, id string) bool {
		_, err := r.listModels(ctx, id)
		return isPresent(err)
	}
	return r.runSuite(ctx, suite{checks: []check{
		{name: "unknown-instance", do: r.unknownInstance},
		{name: "bad-request", do: r.badRequest},
		{name: "models", do: r.checkModels},
		{name: "translate", do: r.translateParts},
		{name: "masks", do: r.keepMasks},
		{name: "summarize", do: r.checkSummarize},
		{name: "concurrency", do: r.checkConcurrency},
		{name: "bad-answer", do: r.badAnswer},
		{name: "down", do: r.checkDown},
		{name: "garbage", do: r.checkGarbage},
		{name: "limited", do: r.checkRateLimit},
		{name: "quota", do: r.checkQuota},
		{name: "denied", do: r.checkDenied},
		{name: "cancel", do: cancelEarly(r.cutShort)},
		{name: "deadline", do: expireEarly(r.cutShort)},
	}})
}

func (r *translatorRun) clientAt(id string) *translator.Client {
	return translator.NewClient(r.conn, id)
}

func (r *translatorRun) listModels(ctx context.Context, id string) ([]translator.Model, error) {
	ctx, cancel := r.withTimeout(ctx)
	defer cancel()
	models, err := r.clientAt(id).ListModels(ctx)
	return models, r.inspectError("list models", err)
}

// askTranslator makes a request and looks at all that comes back.
func (r *translatorRun) askTranslator(ctx context.Context, id string, req translator.Request) (*translator.Answer, error) {
	ctx, cancel := r.withTimeout(ctx)
	defer cancel()
	answer, err := r.clientAt(id).Translate(ctx, req)
	if err != nil {
		return nil, r.inspectError("translate", err)
	}
	r.noteSecrets("answer of translate", answer.Problem)
	for _, p := range answer.Parts {
		r.noteSecrets("answer of translate", p.Text)
	}
	for _, a := range answer.Attempts {
		r.noteSecrets("attempts of translate", a.Message)
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
		r.checkUnknownInstances(func(id string) error { _, err := r.listModels(ctx, id); return err }),
		r.checkUnknownInstances(func(id string) error { _, err := r.askTranslator(ctx, id, r.newSample()); return err }))
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
		_, err := r.askTranslator(ctx, r.main, req)
		if err := callersFault("a request with "+what, err); err != nil {
			return err
		}
	}
	return nil
}

func (r *translatorRun) checkModels(ctx context.Context) error {
	models, err := r.listModels(ctx, r.main)
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
