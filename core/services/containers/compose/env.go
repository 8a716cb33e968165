package compose

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/compose-spec/compose-go/v2/dotenv"
)

// projectEnv reads the variables of a project.
func projectEnv(src Source, a access) (map[string]string, error) {
	files, ok := AbsoluteFiles(src.WorkingDir, src.EnvFiles)
	if !ok {
		return nil, &Error{Kind: FilesRelative}
	}
	if len(files) == 0 {
		usual := filepath.Join(src.WorkingDir, ".env")
		if _, err := os.Stat(usual); !filepath.IsAbs(usual) || errors.Is(err, os.ErrNotExist) {
			return map[string]string{}, nil
		}
		files = []string{usual}
	}
	return a.readVariables(files, map[string]string{})
}

// readVariables reads files of variables, which may name those of the files before and of outer.
func (a access) readVariables(files []string, outer map[string]string) (map[string]string, error) {
	env := map[string]string{}
	for _, file := range files {
		text, err := a.readEnv(file)
		if err != nil {
			return nil, err
		}
		if err := checkEnv(string(text), env, outer); err != nil {
			return nil, invalidProject(filepath.Base(file) + ": " + err.Error())
		}
		more, err := dotenv.UnmarshalWithLookup(string(text), func(name string) (string, bool) {
			if v, ok := outer[name]; ok {
				return v, true
			}
			v, ok := env[name]
			return v, ok
		})
		if err != nil { // the error may quote values
			return nil, invalidProject(filepath.Base(file) + ": the variables cannot be read")
		}
		for name, value := range more {
			env[name] = value
		}
	}
	return env, nil
}

var (
	assignment = regexp.MustCompile(`^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*[=:]`)
	variable   = regexp.MustCompile(`\$\{?([A-Za-z_][A-Za-z0-9_]*)`)
)

// checkEnv refuses variables that name each other so that they become very long. It adds up what each line may become.
func checkEnv(text string, known ...map[string]string) error {
	sizes := map[string]int{}
	for _, env := range known {
		for name, value := range env {
			sizes[name] = max(sizes[name], len(value))
		}
	}
	name, total := "", 0
	for line := range strings.SplitSeq(text, "\n") {
		if err := checkText(line); err != nil {
			return err
		}
		size := len(line)
		for _, m := range variable.FindAllStringSubmatch(line, -1) {
			size += sizes[m[1]]
		}
		if m := assignment.FindStringSubmatch(line); m != nil {
			name = m[1]
		}
		sizes[name] += size
		if total += size; total > maxEnv {
			return fmt.Errorf("the variables become longer than %d bytes", maxEnv)
		}
	}
	return nil
}

// checkText refuses texts whose variables are costly to fill in.
func checkText(s string) error {
	if !strings.Contains(s, "$") {
		return nil
	}
	if len(s) > maxScalar {
		return fmt.Errorf("a text with variables is longer than %d bytes", maxScalar)
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '{' && i > 0 && s[i-1] == '$':
			depth++
		case s[i] == '}' && depth > 0:
			depth--
		}
		if depth > maxBraces {
			return fmt.Errorf("variables are nested deeper than %d", maxBraces)
		}
	}
	return nil
}
