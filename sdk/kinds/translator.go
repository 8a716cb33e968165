package kinds

import (
	"context"

	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/conformance/report"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	translatorv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/translator/v1"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// translatorKind takes the sample "target_language", into which a short text is translated and summarised; without it no model
// is called.
var translatorKind = Kind{Name: translator.Kind, Service: translator.Service,
	File: translatorv1.File_patchbay_translator_v1_translator_proto, Conform: conformTranslator}

func conformTranslator(ctx context.Context, conn grpc.ClientConnInterface, _ *pluginv1.Kind, use Use) (report.Report, error) {
	return conformance.Translator(ctx, conn, conformance.TranslatorConfig{
		JSON: use.Settings, BaseDir: use.BaseDir, Logs: use.Logs, TargetLanguage: use.Samples["target_language"],
	}), nil
}
