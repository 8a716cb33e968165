package settings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// addressVariables are variables of the environment that hold addresses and are read by libraries, not as settings.
var addressVariables = []string{
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy",
	"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "DOCKER_HOST",
}

// checkVariables finds addresses in the environment whose passwords are not percent-encoded: those that libraries read, and those that
// plugins inherit.
func (s Source) checkVariables(file *config.File) (diags config.Diagnostics) {
	names := slices.Clone(addressVariables)
	for _, p := range file.Plugins {
		for _, name := range p.Env {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		text, ok := s.Env(name)
		if !ok {
			continue
		}
		if strings.HasSuffix(strings.ToUpper(name), "_PROXY") && !strings.Contains(text, "://") {
			text = "http://" + text
		}
		if err := schema.CheckUserInfo(text); err != nil {
			diags = append(diags, config.ErrorAt(config.Range{File: "environment " + name}, "Invalid address", fmt.Sprintf("%s %v.", name, err))...)
		}
	}
	return diags
}
