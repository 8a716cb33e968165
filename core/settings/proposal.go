package settings

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"github.com/patchbay-dev/patchbay/config"
)

// Proposal is a change of plugin.hcl that somebody asks for.
type Proposal struct {
	// Add is an instance that is added, Set one whose config block changes; nil for none.
	Add, Set *InstanceProposal
	// Remove is the instance that is taken out, such as search.docs; "" for none.
	Remove string
	// Uses say which instances services name from then on.
	Uses []UseProposal
	// Secrets are the files that the settings name and that do not exist yet, by absolute path.
	Secrets map[string][]byte
}

// InstanceProposal is an instance with settings of its config block.
type InstanceProposal struct {
	Kind, Plugin, Name string
	Settings           []config.Setting
}

// UseProposal is an attribute of a service and the instances that it names.
type UseProposal struct {
	Service, Attribute string
	Refs               []string
}

// Edit returns the text of a configuration with the change. The error is config.ErrNotEditable if it cannot be made there.
func (p Proposal) Edit(path string, text []byte) ([]byte, error) {
	draft, err := config.NewDraft(path, text)
	if err != nil {
		return nil, err
	}
	if a := p.Add; a != nil {
		if err := draft.AddInstance(a.Kind, a.Plugin, a.Name, a.Settings); err != nil {
			return nil, err
		}
	}
	if s := p.Set; s != nil {
		if err := draft.SetConfig(s.Kind, s.Name, s.Settings); err != nil {
			return nil, err
		}
	}
	for _, u := range p.Uses {
		if err := draft.SetReference(u.Service, u.Attribute, u.Refs); err != nil {
			return nil, err
		}
	}
	if p.Remove != "" {
		kind, name, _ := strings.Cut(p.Remove, ".")
		if err := draft.RemoveInstance(kind, name); err != nil {
			return nil, err
		}
	}
	return draft.Bytes(), nil
}

// Instance returns the instance that is added or changed, such as search.web, or "".
func (p Proposal) Instance() string {
	for _, i := range []*InstanceProposal{p.Add, p.Set} {
		if i != nil {
			return i.Kind + "." + i.Name
		}
	}
	return ""
}

// String tells what the change is about in a few words, without values.
func (p Proposal) String() string {
	var words []string
	if p.Add != nil {
		words = append(words, "add "+p.Instance())
	} else if p.Set != nil {
		words = append(words, "change "+p.Instance())
	}
	for _, u := range p.Uses {
		words = append(words, fmt.Sprintf("%s.%s = %s", u.Service, u.Attribute, strings.Join(u.Refs, ", ")))
	}
	if p.Remove != "" {
		words = append(words, "remove "+p.Remove)
	}
	return strings.Join(words, "; ")
}

// With returns the source as it would be with another text of the configuration and the secrets of a change.
func (s Source) With(text []byte, p Proposal) (Source, error) {
	path, err := filepath.Abs(s.Path)
	if err != nil {
		return s, err
	}
	s.Overlay = maps.Clone(p.Secrets)
	if s.Overlay == nil {
		s.Overlay = map[string][]byte{}
	}
	s.Overlay[path] = text
	return s, nil
}

// SecretsDir returns the directory of the secrets that the console writes.
func (s *Settings) SecretsDir() string { return filepath.Join(s.DataDir, "secrets") }

// BackupsDir returns the directory of the former configurations.
func (s *Settings) BackupsDir() string { return filepath.Join(s.DataDir, "configurations") }

// FilePath returns how an absolute path is written in plugin.hcl: relative if it lies below the folder of the file.
func (s *Settings) FilePath(path string) string {
	rel, err := filepath.Rel(s.File.Dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return path
	}
	return filepath.ToSlash(rel)
}
