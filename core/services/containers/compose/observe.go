package compose

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Observed is what the labels of one container say.
type Observed struct {
	// Project and Service are its names; a container without a project is passed over.
	Project, Service string
	// ConfigFiles is the label with the compose files, with commas or line breaks between them; nil without the label.
	ConfigFiles *string
	// WorkingDir is the label with the folder against which relative files are resolved.
	WorkingDir string
	// EnvFiles is the label with the files of variables, with commas between them.
	EnvFiles string
}

// Options are what Observe needs.
type Options struct {
	// ReadFile reads a file, such as the function ReadFile does.
	ReadFile func(path string) ([]byte, error)
	// Check, if not nil, returns an error for a file that may not be read for a project with the working directory.
	Check func(workingDir, path string) error
	// SupervisorOverride is where the supervisor writes the file that names the image of this product; "" for nowhere. It
	// is taken without a warning when it is what it should be, and passed over when it cannot be read.
	SupervisorOverride string
}

// Warnings about a project whose containers name different files.
const (
	// WarnSuperset: the longest list was taken; what it adds names images alone.
	WarnSuperset = "warning:config_files_superset_selected"
	// WarnUnreadable: an added file cannot be read; the common files were taken.
	WarnUnreadable = "warning:config_files_extra_unreadable_fallback_common"
	// WarnUnsafe: an added file names services that were not made with it; the common files were taken.
	WarnUnsafe = "warning:config_files_unsafe_extra_fallback_common"
	// WarnConflict: no list holds all others, and none of the added files can be read; the common files were taken.
	WarnConflict = "warning:config_files_conflict_fallback_common"
)

// Group is a project as its containers tell of it.
type Group struct {
	Project string
	// Services are the names that containers have, in order.
	Services []string
	// WorkingDir, Files and EnvFiles are for Source; Files are absolute.
	WorkingDir      string
	Files, EnvFiles []string
	// Err tells why no files could be chosen; nil when they are.
	Err *Error
	// Warning is one of the constants, or "".
	Warning string
	// Variants are the different lists of files; nil when all containers agree.
	Variants *Variants
}

// Variants are the lists of files of a project's containers, and what was made of them.
type Variants struct {
	// Kind is always "config_files_variants".
	Kind     string    `json:"kind"`
	Variants []Variant `json:"variants"`
	// Selected is absent when none could be chosen.
	Selected *Selected `json:"selected,omitempty"`
}

// Variant is one list of files and the services whose containers name it.
type Variant struct {
	ConfigFiles []string `json:"configFiles"`
	Services    []string `json:"services"`

	first Observed
}

// Selected is the choice among variants.
type Selected struct {
	// Mode is "superset", "common", or "single" when the variants differ in the supervisor's file alone.
	Mode        string   `json:"mode"`
	ConfigFiles []string `json:"configFiles"`
	// Reason is the warning without its prefix; it may be empty.
	Reason string `json:"reason,omitempty"`
}

// Observe groups containers by project, in order of names, and chooses the compose files of each. It reads files only
// through o.ReadFile, and only those in which containers of one project differ.
func Observe(containers []Observed, o Options) []Group {
	projects := map[string][]Observed{}
	for _, c := range containers {
		if c.Project != "" {
			projects[c.Project] = append(projects[c.Project], c)
		}
	}
	out := make([]Group, 0, len(projects))
	for _, name := range slices.Sorted(maps.Keys(projects)) {
		out = append(out, observeGroup(name, projects[name], o))
	}
	return out
}

func observeGroup(name string, containers []Observed, o Options) Group {
	g := Group{Project: name}
	for _, c := range containers {
		if c.Service != "" {
			g.Services = append(g.Services, c.Service)
		}
	}
	slices.Sort(g.Services)
	g.Services = slices.Compact(g.Services)
	variants, err := listVariants(containers)
	if err != nil {
		g.Err = err
		return g
	}
	c := chooser{Options: o, group: &g, all: variants}
	c.chooseFiles()
	return g
}

// listVariants collects the different lists; the error is for a project without any.
func listVariants(containers []Observed) (variants []Variant, err *Error) {
	err = &Error{Kind: FilesMissing}
	dir := ""
	for _, c := range containers {
		if c.ConfigFiles == nil {
			continue
		}
		if dir = cmp.Or(dir, c.WorkingDir); filepath.Clean(dir) != filepath.Clean(cmp.Or(c.WorkingDir, dir)) {
			return nil, &Error{Kind: WorkingDirs}
		}
		files, ok := AbsoluteFiles(c.WorkingDir, strings.FieldsFunc(*c.ConfigFiles, isBreak))
		switch {
		case !ok:
			err = &Error{Kind: FilesRelative}
			continue
		case len(files) == 0 && err.Kind == FilesMissing:
			err = &Error{Kind: FilesEmpty}
		}
		if len(files) > 0 {
			variants = addVariant(variants, files, c)
		}
	}
	if len(variants) > 0 {
		return variants, nil
	}
	return nil, err
}

func isBreak(r rune) bool { return r == ',' || r == '\n' || r == '\r' }

func addVariant(variants []Variant, files []string, c Observed) []Variant {
	i := slices.IndexFunc(variants, func(v Variant) bool { return slices.Equal(v.ConfigFiles, files) })
	if i < 0 {
		variants = append(variants, Variant{ConfigFiles: files, first: c})
		i = len(variants) - 1
	}
	v := &variants[i]
	if at, found := slices.BinarySearch(v.Services, c.Service); !found && c.Service != "" {
		v.Services = slices.Insert(v.Services, at, c.Service)
	}
	slices.SortFunc(variants, func(a, b Variant) int {
		return cmp.Or(cmp.Compare(len(a.ConfigFiles), len(b.ConfigFiles)), slices.Compare(a.ConfigFiles, b.ConfigFiles))
	})
	return variants
}
