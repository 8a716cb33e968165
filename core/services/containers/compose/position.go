package compose

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/compose-spec/compose-go/v2/template"
)

// Errors of parsers quote what they read. Those of this package tell the position alone: nothing of a file that holds
// secrets, or is no compose file, must be seen in an error.

var yamlLine = regexp.MustCompile(`\bline (\d+)`)

// yamlError is an error of the YAML parser without what it quotes.
func yamlError(err error) error {
	if line := yamlLine.FindStringSubmatch(err.Error()); line != nil {
		return fmt.Errorf("line %s cannot be read as YAML", line[1])
	}
	return errors.New("it cannot be read as YAML")
}

// variableError is an error about a text with variables without the text.
func variableError(err error) error {
	var invalid *template.InvalidTemplateError
	var required *template.MissingRequiredError
	switch {
	case errors.As(err, &required):
		return errors.New("a required variable has no value")
	case errors.As(err, &invalid):
		return errors.New("a text with variables cannot be read")
	}
	return err
}

// modelPath matches what the loader names a part of the files by.
var modelPath = regexp.MustCompile(`\b(?:services|networks|volumes|configs|secrets|include)(?:\.[A-Za-z0-9_-]+)*`)

// loaderError is an error of the loader as a position in the files that w has read.
func loaderError(err error, files []string, w *walker) *Error {
	detail := "the files do not follow the compose format"
	switch told, text := variableError(err), strings.ToLower(err.Error()); {
	case told != err:
		detail = told.Error()
	case strings.Contains(text, "cycle"), strings.Contains(text, "circular"):
		detail = "files or services need each other in a cycle"
	case strings.Contains(text, errNotPart.Error()):
		detail = errNotPart.Error()
	case strings.Contains(text, errExpanded.Error()):
		detail = errExpanded.Error()
	}
	for _, path := range modelPath.FindAllString(err.Error(), -1) {
		for _, file := range slices.Concat(files, w.extraFiles(files)) {
			if line := findLine(w.files[file], strings.Split(path, ".")); line > 0 {
				return invalidProject(filepath.Base(file) + ": line " + strconv.Itoa(line) + ": " + detail)
			}
		}
	}
	return invalidProject(detail)
}

// findLine returns the line of the deepest part of path that a file has; 0 where there is less than two of its parts.
func findLine(text []byte, path []string) (line int) {
	docs, err := parseNodes(text)
	if err != nil {
		return 0
	}
	for _, doc := range docs {
		node := doc
		for i, name := range path {
			key, value := findMember(node, name)
			if key == nil {
				break
			}
			node = value
			if i > 0 || len(path) == 1 {
				line = key.Line
			}
		}
	}
	return line
}
