package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// maxFile is the largest file that is read: plugin.hcl itself, or one that file and secret_file name.
const maxFile = 1 << 20

// sensitiveMark marks values that secret_file has read.
type sensitiveMark struct{}

// newFunctions returns the functions that expressions may call, by name.
func (f *File) newFunctions() map[string]function.Function {
	return map[string]function.Function{
		"env":         f.newEnvFunction(),
		"file":        f.newFileFunction(false),
		"secret_file": f.newFileFunction(true),
		"format":      newFormatFunction(),
		"join":        stdlib.JoinFunc,
		"lower":       stdlib.LowerFunc,
		"trimspace":   stdlib.TrimSpaceFunc,
	}
}

func (f *File) newEnvFunction() function.Function {
	return function.New(&function.Spec{
		Description: "Returns an environment variable.",
		Params:      []function.Parameter{{Name: "name", Type: cty.String}},
		VarParam:    &function.Parameter{Name: "default", Type: cty.String, AllowNull: true},
		Type:        function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if len(args) > 2 {
				return cty.NilVal, function.NewArgErrorf(2, `write env("NAME") or env("NAME", "default")`)
			}
			name := args[0].AsString()
			if v, ok := f.env(name); ok && utf8.ValidString(v) {
				return cty.StringVal(v), nil
			}
			if len(args) == 2 {
				return args[1], nil
			}
			return cty.NilVal, function.NewArgErrorf(0, `the environment variable %s is not set; set it, or write env(%q, "default")`, name, name)
		},
	})
}

func (f *File) newFileFunction(secret bool) function.Function {
	return function.New(&function.Spec{
		Description: "Returns the text of a file.",
		Params:      []function.Parameter{{Name: "path", Type: cty.String}},
		Type:        function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			text, err := f.readText(args[0].AsString())
			if err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			if !secret {
				return cty.StringVal(text), nil
			}
			text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
			return cty.StringVal(text).Mark(sensitiveMark{}), nil
		},
	})
}

// wideVerb is a verb of format that asks for a thousand characters or more.
var wideVerb = regexp.MustCompile(`%[^a-zA-Z%]*[0-9]{4}`)

// newFormatFunction returns the standard format function, which refuses widths of more than three digits.
func newFormatFunction() function.Function {
	return function.New(&function.Spec{
		Description: "Fills values into a text.",
		Params:      stdlib.FormatFunc.Params(),
		VarParam:    stdlib.FormatFunc.VarParam(),
		Type:        function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if wideVerb.MatchString(args[0].AsString()) {
				return cty.NilVal, function.NewArgErrorf(0, "a width has at most three digits")
			}
			return stdlib.FormatFunc.Call(args)
		},
	})
}

func (f *File) readText(path string) (string, error) {
	data, err := f.opts.ReadFile(f.resolvePath(path))
	if err != nil {
		return "", fmt.Errorf("read %q: %w", path, bareError(err))
	}
	if len(data) > maxFile {
		return "", fmt.Errorf("read %q: it is larger than 1 MiB", path)
	}
	if !utf8.Valid(data) {
		return "", fmt.Errorf("read %q: it is not UTF-8 text", path)
	}
	return string(data), nil
}

// resolvePath returns the path, relative to the directory of the file, as an absolute one.
func (f *File) resolvePath(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(f.Dir, path)
}

// bareError returns the cause of a fs.PathError, without the path.
func bareError(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// readFile reads at most maxFile+1 bytes, so that the caller can tell a file that is too large.
func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, maxFile+1))
}
