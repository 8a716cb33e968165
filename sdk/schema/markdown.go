package schema

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes the attributes as a table of a Markdown document, one row each: name, type, default, what it does. Nested blocks
// follow, each with a line that names it and a table. Plugins can keep their documents true with it.
func (s *Schema) WriteMarkdown(w io.Writer) error {
	return s.writeTables(w, "")
}

// writeTables writes the table of a level, and below it those of its blocks; path names the level.
func (s *Schema) writeTables(w io.Writer, path string) error {
	if path != "" {
		if _, err := fmt.Fprintf(w, "\nBlock `%s`:\n\n", path); err != nil {
			return err
		}
	}
	if len(s.Attributes) > 0 {
		if _, err := io.WriteString(w, "| Setting | Type | Default | What it does |\n|---|---|---|---|\n"); err != nil {
			return err
		}
	}
	for _, a := range s.Attributes {
		if _, err := fmt.Fprintf(w, "| `%s` | %s | %s | %s |\n", a.Name, a.markdownType(), a.markdownDefault(), a.markdownText()); err != nil {
			return err
		}
	}
	for _, b := range s.Blocks {
		if err := b.Schema.writeTables(w, strings.TrimPrefix(path+"."+b.Name, ".")); err != nil {
			return err
		}
	}
	return nil
}

// markdownType returns the type as a word or two.
func (a *Attribute) markdownType() string {
	text := map[Type]string{String: "text", Number: "number", Integer: "whole number", Bool: "true or false", Duration: "duration",
		StringList: "list of texts", StringMap: "map of texts"}[a.Type]
	if a.Ref != "" {
		text = "instance of " + a.Ref
		if a.Type == StringList {
			text = "list of instances of " + a.Ref
		}
	}
	if a.Sensitive {
		text += ", secret"
	}
	return text
}

// markdownDefault returns the default as it is written in HCL, "required", or nothing.
func (a *Attribute) markdownDefault() string {
	switch {
	case a.Required:
		return "required"
	case a.Default == nil || string(a.Default) == `""` || string(a.Default) == "[]" || string(a.Default) == "{}":
		return ""
	case a.Type == StringList:
		var list []string
		if json.Unmarshal(a.Default, &list) == nil {
			return "`" + strings.Join(list, "`, `") + "`"
		}
	}
	return "`" + strings.Trim(string(a.Default), `"`) + "`"
}

// markdownText returns what the attribute does, its values and its environment variable.
func (a *Attribute) markdownText() string {
	parts := []string{a.Doc}
	if len(a.Enum) > 0 {
		parts = append(parts, "One of `"+strings.Join(a.Enum, "`, `")+"`.")
	}
	if a.Env != "" {
		parts = append(parts, "Environment: `"+a.Env+"`.")
	}
	if a.Deprecated != "" {
		parts = append(parts, "Deprecated: "+a.Deprecated)
	}
	return strings.ReplaceAll(strings.TrimSpace(strings.Join(parts, " ")), "|", `\|`)
}
