package conformance

import (
	"context"
	"testing"

	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/sdk/conformance/internal/suite"
	"github.com/patchbay-dev/patchbay/sdk/conformance/report"
	"github.com/patchbay-dev/patchbay/sdk/framework"
)

// TestSearch loads a plugin inside the test and runs the suite; each check is a subtest. The log is watched at the level
// trace.
func TestSearch(t *testing.T, p framework.Plugin, cfg SearchConfig) {
	t.Helper()
	suite.ReportSubtests(t, runSuite(t, p, cfg, Search))
}

// TestNotify is TestSearch for the notify kind.
func TestNotify(t *testing.T, p framework.Plugin, cfg NotifyConfig) {
	t.Helper()
	suite.ReportSubtests(t, runSuite(t, p, cfg, Notify))
}

// TestRegistry is TestSearch for the registry kind.
func TestRegistry(t *testing.T, p framework.Plugin, cfg RegistryConfig) {
	t.Helper()
	suite.ReportSubtests(t, runSuite(t, p, cfg, Registry))
}

// TestCodeHost is TestSearch for the codehost kind.
func TestCodeHost(t *testing.T, p framework.Plugin, cfg CodeHostConfig) {
	t.Helper()
	suite.ReportSubtests(t, runSuite(t, p, cfg, CodeHost))
}

// TestEngine is TestSearch for the engine kind.
func TestEngine(t *testing.T, p framework.Plugin, cfg EngineConfig) {
	t.Helper()
	suite.ReportSubtests(t, runSuite(t, p, cfg, Engine))
}

// TestDNS is TestSearch for the dns kind.
func TestDNS(t *testing.T, p framework.Plugin, cfg DNSConfig) {
	t.Helper()
	suite.ReportSubtests(t, runSuite(t, p, cfg, DNS))
}

// TestTranslator is TestSearch for the translator kind.
func TestTranslator(t *testing.T, p framework.Plugin, cfg TranslatorConfig) {
	t.Helper()
	suite.ReportSubtests(t, runSuite(t, p, cfg, Translator))
}

// suiteConfig is a pointer to the configuration of a suite.
type suiteConfig[C any] interface {
	*C
	// hostFields returns the fields that say where the plugin runs: the directory of the configuration file, and its log.
	hostFields() (baseDir *string, logs *func() string)
}

// runSuite loads a plugin and runs the suite of a kind. Where cfg has no directory or log, they are a temporary directory
// and what the plugin logs.
func runSuite[C any, P suiteConfig[C]](t *testing.T, p framework.Plugin, cfg C,
	perform func(context.Context, grpc.ClientConnInterface, C) report.Report) report.Report {
	t.Helper()
	conn, logged := suite.ServePlugin(t, p)
	baseDir, logs := P(&cfg).hostFields()
	if *baseDir == "" {
		*baseDir = t.TempDir()
	}
	if *logs == nil {
		*logs = logged
	}
	return perform(t.Context(), conn, cfg)
}

func (c *SearchConfig) hostFields() (*string, *func() string)     { return &c.BaseDir, &c.Logs }
func (c *NotifyConfig) hostFields() (*string, *func() string)     { return &c.BaseDir, &c.Logs }
func (c *RegistryConfig) hostFields() (*string, *func() string)   { return &c.BaseDir, &c.Logs }
func (c *CodeHostConfig) hostFields() (*string, *func() string)   { return &c.BaseDir, &c.Logs }
func (c *EngineConfig) hostFields() (*string, *func() string)     { return &c.BaseDir, &c.Logs }
func (c *DNSConfig) hostFields() (*string, *func() string)        { return &c.BaseDir, &c.Logs }
func (c *TranslatorConfig) hostFields() (*string, *func() string) { return &c.BaseDir, &c.Logs }
