package config

import (
	"fmt"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
)

// Range is a place in a file. Lines and columns count from 1; the end is exclusive. A finding without a place in a
// file has Line 0, and File then names what it is about, such as "environment SVC_HTTP_ADDR".
type Range struct {
	File               string
	Line, Column       int
	EndLine, EndColumn int
	src                *source
}

// String writes the place as in plugin.hcl:4,5-12.
func (r Range) String() string {
	switch {
	case r.Line == 0:
		return r.File
	case r.Line == r.EndLine:
		return fmt.Sprintf("%s:%d,%d-%d", r.File, r.Line, r.Column, r.EndColumn)
	}
	return fmt.Sprintf("%s:%d,%d-%d,%d", r.File, r.Line, r.Column, r.EndLine, r.EndColumn)
}

// Short writes the base name of the file and the line, as in plugin.hcl:4.
func (r Range) Short() string {
	if r.Line == 0 {
		return r.File
	}
	return fmt.Sprintf("%s:%d", filepath.Base(r.File), r.Line)
}

// rangeAt returns the parser's range as a Range.
func (s *source) rangeAt(r hcl.Range) Range {
	if r.Filename == "" {
		r.Filename = s.name
	}
	return Range{
		File: r.Filename, Line: r.Start.Line, Column: r.Start.Column, EndLine: r.End.Line, EndColumn: r.End.Column, src: s,
	}
}
