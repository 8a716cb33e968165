package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// binary is a program: its main package, and whether it is built with cgo.
type binary struct{ name, pkg, cgo string }

// architectures are those that the binaries are built for; what is linked can differ.
var architectures = []string{"amd64", "arm64"}

// licenceFile matches the names of files that hold a licence, a notice or a patent grant.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|patents|unlicense)([-._].*)?$`)

// listedPackage is what "go list" tells about a package.
type listedPackage struct {
	Dir      string
	Standard bool
	Module   *listedModule
}

type listedModule struct {
	Path, Version, Dir string
	Main               bool
	Replace            *listedModule
}

// linkedModules are the modules whose packages the binaries contain, by path, after Go itself.
func linkedModules(root string) ([]*component, error) {
	found := map[string]*component{}
	files := map[string][]string{}
	dirs := map[string]string{}
	for _, b := range binaries {
		for _, arch := range architectures {
			pkgs, err := listPackages(root, b, arch)
			if err != nil {
				return nil, err
			}
			for _, p := range pkgs {
				m := p.module()
				if m == nil {
					continue
				}
				key := m.Path + " " + m.Version
				if found[key] == nil {
					found[key], dirs[key] = &component{name: m.Path, version: m.Version}, m.Dir
				}
				found[key].linkedInto = appendNew(found[key].linkedInto, b.name)
				licences, err := licencesAbove(m.Dir, p.Dir)
				if err != nil {
					return nil, err
				}
				files[key] = appendNew(files[key], licences...)
			}
		}
	}
	standard, err := standardLibrary(root)
	if err != nil {
		return nil, err
	}
	out := []*component{standard}
	for key, c := range found {
		slices.SortFunc(files[key], compareDepth)
		if c.texts, err = readTexts(dirs[key], files[key]); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	slices.SortFunc(out[1:], func(a, b *component) int { return strings.Compare(a.name+" "+a.version, b.name+" "+b.version) })
	return out, nil
}

// module returns the module of others that the package belongs to, or nil.
func (p listedPackage) module() *listedModule {
	m := p.Module
	if p.Standard || m == nil || m.Main {
		return nil
	}
	if m.Replace == nil {
		return m
	}
	if strings.HasPrefix(m.Replace.Path, ".") {
		return nil
	}
	return m.Replace
}

func listPackages(root string, b binary, arch string) (out []listedPackage, err error) {
	raw, err := runGo(root, b.cgo, arch, "list", "-deps", "-json=Dir,Standard,Module", b.pkg)
	if err != nil {
		return nil, err
	}
	for dec := json.NewDecoder(bytes.NewReader(raw)); ; {
		var p listedPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("read what go list says: %w", err)
		}
		out = append(out, p)
	}
}

// runGo runs the go command at root for Linux and returns what it prints.
func runGo(root, cgo, arch string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED="+cgo)
	raw, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return raw, nil
}

// licencesAbove returns the licence files in the folders from a package up to its module, relative to the module.
func licencesAbove(module, pkg string) (out []string, err error) {
	for dir := pkg; ; dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.Type().IsRegular() && licenceFile.MatchString(e.Name()) && filepath.Ext(e.Name()) != ".go" {
				rel, err := filepath.Rel(module, filepath.Join(dir, e.Name()))
				if err != nil {
					return nil, err
				}
				out = append(out, rel)
			}
		}
		if dir == module {
			return out, nil
		}
		if len(dir) < len(module) {
			return nil, fmt.Errorf("package folder %s lies outside its module %s", pkg, module)
		}
	}
}

// compareDepth orders the files of a module's root before those of its folders.
func compareDepth(a, b string) int {
	if n := strings.Count(a, string(filepath.Separator)) - strings.Count(b, string(filepath.Separator)); n != 0 {
		return n
	}
	return strings.Compare(a, b)
}

// standardLibrary is Go itself, which every binary contains. It has no version here: that is the one of the compiler.
func standardLibrary(root string) (*component, error) {
	raw, err := runGo(root, "0", architectures[0], "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	c := &component{name: "Go standard library and runtime"}
	for _, b := range binaries {
		c.linkedInto = append(c.linkedInto, b.name)
	}
	c.texts, err = readTexts(strings.TrimSpace(string(raw)), []string{"LICENSE", "PATENTS"})
	return c, err
}
