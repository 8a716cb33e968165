// Package openai is the translator for servers that speak the chat completions API of OpenAI: OpenAI itself, gateways, and local
// servers such as Ollama, vLLM and llama.cpp.
package openai

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// Config is the config block of an instance.
type Config struct {
	BaseURL         string           `patchbay:"base_url,default=https://api.openai.com/v1" doc:"Address of the API, below which chat/completions is."`
	APIKey          schema.Secret    `patchbay:"api_key" doc:"Key of the account. Unset for servers that need none."`
	Models          []string         `patchbay:"models,required" doc:"The models, tried in this order."`
	MaxInputTokens  int64            `patchbay:"max_input_tokens,default=12000" doc:"Most tokens of a request, by estimate. Patchbay does not send longer ones."`
	MaxOutputTokens int64            `patchbay:"max_output_tokens,default=8000" doc:"Most tokens of an answer."`
	Temperature     *float64         `patchbay:"temperature" doc:"0 to 2. Unset: the model's own."`
	Structured      string           `patchbay:"structured,default=auto,enum=auto|schema|object|none" doc:"How to ask the server for JSON. auto starts with a schema and falls back to what the server accepts."`
	Timeout         time.Duration    `patchbay:"timeout,default=2m" doc:"Longest time for one request."`
	Retries         int              `patchbay:"retries,default=2" doc:"Retries of a request after a temporary failure before the next model."`
	Cooldown        time.Duration    `patchbay:"cooldown,default=10m" doc:"Pause of a model after three failures in a row."`
	Prices          map[string]Price `patchbay:"price" doc:"What a model costs; the label is its name. Without a price the cost is 0."`
}

// Price is what a model costs.
type Price struct {
	Input  float64 `patchbay:"input" doc:"Price of a million input tokens."`
	Output float64 `patchbay:"output" doc:"Price of a million output tokens."`
}

// Plugin declares the plugin.
func Plugin() framework.Plugin {
	return framework.Plugin{
		Name:          "openai",
		Version:       "1.0.0",
		Summary:       "Translates with the models of any server with the OpenAI API.",
		Documentation: "Works with every server that has `POST chat/completions`. A proxy is taken from the environment (`HTTPS_PROXY`).",
		Kinds:         []framework.Kind{translator.New(translator.Definition[Config]{Build: buildTranslator})},
	}
}

const (
	maxModels  = 20
	maxTokens  = 2_000_000
	maxTimeout = 10 * time.Minute
	maxRetries = 10
	// maxBody is the largest answer that is read, in bytes.
	maxBody = 8 << 20
)

func buildTranslator(inst translator.Instance, cfg Config) (translator.Open, schema.Diagnostics) {
	var diags schema.Diagnostics
	check := func(ok bool, name, format string, args ...any) {
		if !ok {
			diags = append(diags, schema.Errorf(schema.At(name), format, args...)...)
		}
	}
	base, err := httpx.ParseBase(cfg.BaseURL)
	check(err == nil, "base_url", "%v", err)
	check(len(cfg.Models) >= 1 && len(cfg.Models) <= maxModels, "models", "must be 1 to %d", maxModels)
	for i, name := range cfg.Models {
		if name == "" || len(name) > 200 || slices.Index(cfg.Models, name) < i {
			diags = append(diags, schema.Errorf(schema.At("models").Index(i), "must be a name of 1 to 200 characters, and stand here once")...)
		}
	}
	check(cfg.MaxInputTokens >= 500 && cfg.MaxInputTokens <= maxTokens, "max_input_tokens", "must be 500 to %d", maxTokens)
	check(cfg.MaxOutputTokens >= 100 && cfg.MaxOutputTokens <= maxTokens, "max_output_tokens", "must be 100 to %d", maxTokens)
	check(cfg.Temperature == nil || *cfg.Temperature >= 0 && *cfg.Temperature <= 2, "temperature", "must be 0 to 2")
	check(cfg.Timeout >= time.Second && cfg.Timeout <= maxTimeout, "timeout", "must be 1s to %s", maxTimeout)
	check(cfg.Retries >= 0 && cfg.Retries <= maxRetries, "retries", "must be 0 to %d", maxRetries)
	check(cfg.Cooldown >= time.Second && cfg.Cooldown <= 24*time.Hour, "cooldown", "must be 1s to 24h")
	for name, p := range cfg.Prices {
		if !slices.Contains(cfg.Models, name) || p.Input < 0 || p.Output < 0 {
			diags = append(diags, schema.Errorf(schema.At("price").Key(name), "must name one of models, with prices that are not negative")...)
		}
	}
	if diags.HasErrors() {
		return nil, diags
	}
	return func(context.Context) (translator.Translator, error) {
		client, err := httpx.New(httpx.Config{UserAgent: inst.UserAgent, Timeout: cfg.Timeout, MaxBody: maxBody, Compression: true, Proxy: true,
			Own: []*url.URL{base}})
		if err != nil {
			return nil, err
		}
		header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}
		if cfg.APIKey != "" {
			header.Set("Authorization", "Bearer "+cfg.APIKey.Reveal())
		}
		completions := *base
		completions.Path += "/chat/completions"
		api := &api{http: client, url: &completions, header: header, secret: cfg.APIKey}
		return newService(cfg, api), nil
	}, diags
}
