package compose

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// chooser picks the files of a project whose containers may name different ones.
type chooser struct {
	Options
	group *Group
	all   []Variant
}

// readFile reads one of the files if it may be read.
func (c *chooser) readFile(path string) ([]byte, error) {
	if c.Check != nil {
		if err := c.Check(c.all[0].first.WorkingDir, path); err != nil {
			return nil, err
		}
	}
	return c.ReadFile(path)
}

func (c *chooser) chooseFiles() {
	if len(c.all) > 1 {
		c.group.Variants = &Variants{Kind: "config_files_variants", Variants: c.all}
	}
	lists, dropped := c.withoutOverride()
	switch {
	case len(lists) == 0:
		c.group.Err = &Error{Kind: FilesEmpty}
	case len(lists) == 1 && dropped:
		c.takeVariant("single", lists[0], WarnUnreadable)
	case len(lists) == 1:
		c.takeVariant("single", lists[0], "")
	default:
		c.chooseFrom(lists)
	}
}

// withoutOverride passes over the supervisor's file where it cannot be read.
func (c *chooser) withoutOverride() (lists []Variant, dropped bool) {
	override := c.overrideFile()
	named := func(v Variant) bool { return override != "" && slices.Contains(v.ConfigFiles, override) }
	if !slices.ContainsFunc(c.all, named) {
		return c.all, false
	}
	if _, err := c.readFile(override); err == nil {
		return c.all, false
	}
	for _, v := range c.all {
		files := slices.DeleteFunc(slices.Clone(v.ConfigFiles), func(f string) bool { return f == override })
		if len(files) == 0 {
			continue
		}
		first := v.first
		lists = addVariant(lists, files, first)
		for _, service := range v.Services {
			first.Service = service
			lists = addVariant(lists, files, first)
		}
	}
	return lists, true
}

// chooseFrom decides between at least two lists.
func (c *chooser) chooseFrom(lists []Variant) {
	longest := lists[len(lists)-1]
	common := longest
	common.ConfigFiles = slices.DeleteFunc(slices.Clone(longest.ConfigFiles), func(f string) bool {
		return slices.ContainsFunc(lists, func(v Variant) bool { return !slices.Contains(v.ConfigFiles, f) })
	})
	for _, v := range lists {
		if !isSubsequence(v.ConfigFiles, longest.ConfigFiles) {
			c.chooseCommon(lists, common)
			return
		}
	}
	warning, err := c.classifyExtraFiles(longest, common.ConfigFiles)
	switch {
	case err != nil:
		c.failChoice(err.Error())
	case warning == "" || warning == WarnSuperset:
		c.takeVariant("superset", longest, warning)
	default:
		c.takeCommon(common, warning)
	}
}

// chooseCommon is for lists of which none holds all others.
func (c *chooser) chooseCommon(lists []Variant, common Variant) {
	for _, v := range lists {
		var shared []string
		for _, file := range v.ConfigFiles {
			if slices.Contains(common.ConfigFiles, file) {
				shared = append(shared, file)
				continue
			}
			if _, err := c.readFile(file); err == nil {
				c.failChoice("containers name different files, such as " + filepath.Base(file))
				return
			}
		}
		if !slices.Equal(shared, common.ConfigFiles) {
			c.failChoice("containers name the same files in different orders")
			return
		}
	}
	c.takeCommon(common, WarnConflict)
}

// classifyExtraFiles says what the files are worth that the longest list adds to the common ones: "" or WarnSuperset when they can be
// taken, else the warning with which they are left out.
func (c *chooser) classifyExtraFiles(longest Variant, common []string) (warning string, err error) {
	for _, file := range longest.ConfigFiles {
		if slices.Contains(common, file) {
			continue
		}
		text, readErr := c.readFile(file)
		if readErr != nil {
			warning = WarnUnreadable
			continue
		}
		services, err := imageOnly(text)
		if err != nil {
			return "", fmt.Errorf("%s %w", filepath.Base(file), err)
		}
		foreign := slices.ContainsFunc(services, func(s string) bool { return !slices.Contains(longest.Services, s) })
		switch {
		case foreign && warning != WarnUnreadable:
			warning = WarnUnsafe
		case !foreign && warning == "" && file != c.overrideFile():
			warning = WarnSuperset
		}
	}
	return warning, nil
}

func (c *chooser) overrideFile() string {
	if c.SupervisorOverride == "" {
		return ""
	}
	return filepath.Clean(c.SupervisorOverride)
}

func (c *chooser) takeCommon(common Variant, warning string) {
	if len(common.ConfigFiles) == 0 {
		c.failChoice("containers have no file in common")
		return
	}
	c.takeVariant("common", common, warning)
}

func (c *chooser) takeVariant(mode string, v Variant, warning string) {
	g := c.group
	g.Files, g.WorkingDir, g.Warning = slices.Clone(v.ConfigFiles), v.first.WorkingDir, warning
	g.EnvFiles, _ = AbsoluteFiles(v.first.WorkingDir, strings.FieldsFunc(v.first.EnvFiles, isBreak))
	if g.Variants != nil {
		g.Variants.Selected = &Selected{Mode: mode, ConfigFiles: g.Files, Reason: strings.TrimPrefix(warning, "warning:")}
	}
}

func (c *chooser) failChoice(detail string) {
	c.group.Err = &Error{Kind: FilesConflict, Detail: oneLine(detail)}
}

// isSubsequence reports whether all of part stand in whole, in the same order.
func isSubsequence(part, whole []string) bool {
	for _, file := range whole {
		if len(part) > 0 && part[0] == file {
			part = part[1:]
		}
	}
	return len(part) == 0
}

// imageOnly gives the services of a file that names their images and nothing else.
func imageOnly(text []byte) (services []string, err error) {
	docs, err := parseNodes(text)
	if err != nil {
		return nil, errors.New("cannot be read")
	}
	if len(docs) != 1 || !slices.Equal(mappingKeys(docs[0]), []string{"services"}) {
		return nil, errors.New("says more than images")
	}
	all := findField(docs[0], "services")
	for _, name := range mappingKeys(all) {
		service := findField(all, name)
		if !slices.Equal(mappingKeys(service), []string{"image"}) || findField(service, "image").Kind != yaml.ScalarNode {
			return nil, errors.New("says more than images")
		}
		services = append(services, name)
	}
	if len(services) == 0 {
		return nil, errors.New("names no service")
	}
	return services, nil
}

// mappingKeys are those of a mapping; nil for anything else.
func mappingKeys(n *yaml.Node) (out []string) {
	n = followAlias(n)
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		out = append(out, n.Content[i].Value)
	}
	return out
}
