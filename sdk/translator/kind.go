package translator

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	translatorv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/translator/v1"
)

// New makes the kind for a plugin's declaration.
func New[C any](d Definition[C]) framework.Kind {
	return kind[C]{framework.Built[C, Translator, Open]{Build: d.Build}}
}

type kind[C any] struct {
	framework.Built[C, Translator, Open]
}

// Describe implements framework.Kind.
func (k kind[C]) Describe() (*pluginv1.Kind, error) { return k.DescribeAs(Kind, Service) }

// Register implements framework.Kind.
func (k kind[C]) Register(s grpc.ServiceRegistrar, r framework.Router) {
	translatorv1.RegisterTranslatorServer(s, &server{router: r})
}

type server struct {
	translatorv1.UnimplementedTranslatorServer
	router framework.Router
}

// withInstance finds the instance and makes one call.
func (s *server) withInstance(ctx context.Context, call func(Translator) error) error {
	return framework.Use(ctx, s.router, Kind, "a translator", call)
}

func (s *server) ListModels(ctx context.Context, _ *translatorv1.ListModelsRequest) (out *translatorv1.ListModelsResponse, err error) {
	err = s.withInstance(ctx, func(t Translator) error {
		models, err := t.ListModels(ctx)
		out = &translatorv1.ListModelsResponse{}
		for _, m := range models {
			out.Models = append(out.Models, m.toProto())
		}
		return err
	})
	return out, err
}

func (s *server) Translate(ctx context.Context, p *translatorv1.TranslateRequest) (out *translatorv1.TranslateResponse, err error) {
	req := requestFrom(p)
	if err := req.checkRequest(); err != nil {
		return nil, err
	}
	err = s.withInstance(ctx, func(t Translator) error {
		answer, err := t.Translate(ctx, req)
		if err != nil {
			return err
		}
		if err := req.checkAnswer(answer); err != nil {
			return err
		}
		out = answer.toProto()
		return nil
	})
	return out, err
}

// languagePattern is what a BCP 47 tag looks like.
var languagePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$`) })

// IsLanguage reports whether a text looks like a BCP 47 tag.
func IsLanguage(tag string) bool { return languagePattern().MatchString(tag) }

// checkRequest returns an error of the caller for a request that no translator accepts.
func (r Request) checkRequest() error {
	switch {
	case r.Task == "":
		return InvalidRequest("the task is not one of this version")
	case !IsLanguage(r.TargetLanguage):
		return InvalidRequest("the target language must be a BCP 47 tag, such as zh-CN")
	case r.SourceLanguage != "" && !IsLanguage(r.SourceLanguage):
		return InvalidRequest("the source language must be a BCP 47 tag, or empty")
	case len(r.Parts) < 1 || len(r.Parts) > MaxParts:
		return InvalidRequest("a request has 1 to %d parts", MaxParts)
	case utf8.RuneCountInString(r.Correction) > MaxCorrection:
		return InvalidRequest("the correction has at most %d characters", MaxCorrection)
	}
	seen, size := map[string]bool{}, 0
	for _, p := range r.Parts {
		switch n := utf8.RuneCountInString(p.Name); {
		case n < 1 || n > MaxName:
			return InvalidRequest("the name of a part has 1 to %d characters", MaxName)
		case seen[p.Name]:
			return InvalidRequest("the parts have different names")
		case strings.TrimSpace(p.Text) == "":
			return InvalidRequest("a part has no text")
		}
		seen[p.Name] = true
		size += len(p.Text)
	}
	if size > MaxText {
		return InvalidRequest("the texts of a request have at most %d bytes together", MaxText)
	}
	return nil
}

// checkAnswer returns an error of the plugin for an answer that is not one to the request.
func (r Request) checkAnswer(a *Answer) error {
	wrong := func(text string) error {
		return errs.New(errs.Plugin, codes.Internal, "WRONG_ANSWER", "the plugin answered %s", text)
	}
	if a == nil {
		return wrong("nothing")
	}
	if a.Problem != "" || a.Insufficient && r.Task == Summarize {
		if len(a.Parts) > 0 {
			return wrong("parts beside a problem")
		}
		return nil
	}
	want := []string{PartTitle, PartBody}
	if r.Task == Translate {
		want = nil
		for _, p := range r.Parts {
			want = append(want, p.Name)
		}
	}
	if len(a.Parts) != len(want) {
		return wrong("another number of parts than it was asked for")
	}
	for i, p := range a.Parts {
		if p.Name != want[i] || strings.TrimSpace(p.Text) == "" {
			return wrong("parts that it was not asked for, or that are empty")
		}
	}
	return nil
}
