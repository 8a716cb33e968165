package webops

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/patchbay-dev/patchbay/plugins/internal/extract"
	"github.com/patchbay-dev/patchbay/plugins/internal/searchapi"
)

const maxPattern = 1000

// readPatterns reads regular expressions.
func readPatterns(p *searchapi.Params, name string) ([]*regexp.Regexp, error) {
	var out []*regexp.Regexp
	for _, t := range p.Texts(name) {
		if len(t) > maxPattern {
			return nil, fmt.Errorf("%s: a pattern may have at most %d bytes", name, maxPattern)
		}
		re, err := regexp.Compile(t)
		if err != nil {
			return nil, fmt.Errorf("%s: %q is no regular expression of the syntax RE2", name, t)
		}
		out = append(out, re)
	}
	return out, nil
}

// ReadDomains reads host names; a scheme, a www. and a path are taken off.
func ReadDomains(p *searchapi.Params, name string) ([]string, error) {
	var out []string
	for _, d := range p.Texts(name) {
		if d = BareDomain(d); d == "" {
			return nil, fmt.Errorf("%s must hold domains such as example.org", name)
		}
		out = append(out, d)
	}
	return out, nil
}

// ReadUsage reads include_usage; nil if it is not asked for.
func ReadUsage(p *searchapi.Params) *Usage {
	if !p.Flag("include_usage", false) {
		return nil
	}
	return &Usage{}
}

func readFormat(p *searchapi.Params) extract.Format {
	return extract.Format(p.Word("format", string(extract.Markdown)))
}

// readStart reads the address to begin with; one without a scheme is taken for https.
func readStart(p *searchapi.Params) (*url.URL, error) {
	raw := strings.TrimSpace(p.Text("url"))
	if !strings.Contains(raw, "://") {
		raw = "https://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || len(raw) > maxAddress || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("url must be an http or https address")
	}
	if u.User != nil {
		return nil, errors.New("url must not hold a user or password")
	}
	return u, nil
}

// checkURLs checks the addresses of pages to read. Their number is checked by the table of parameters.
func checkURLs(urls []string) error {
	if len(urls) == 0 {
		return errors.New("urls is required")
	}
	for _, u := range urls {
		if strings.TrimSpace(u) == "" || len(u) > maxAddress {
			return fmt.Errorf("urls must be addresses of 1 to %d bytes", maxAddress)
		}
	}
	return nil
}

// All runs the steps of reading a body until one fails.
func All(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
