package main

import (
	"bytes"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// writeMaterials writes the bill of materials of the binaries of a directory: the modules that they say they are made of.
func (r *release) writeMaterials(arch, bin string) error {
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Timestamp: r.version.Date.Format(time.RFC3339),
		Component: &cdx.Component{Type: cdx.ComponentTypeApplication, Name: "patchbay", Version: r.version.Name}}
	var components []cdx.Component
	known := map[string]bool{}
	for _, name := range []string{"patchbay", "patchbay-plugins"} {
		info, err := buildinfo.ReadFile(filepath.Join(bin, name))
		if err != nil {
			return fmt.Errorf("read what %s is made of: %w", name, err)
		}
		found := []cdx.Component{{Type: cdx.ComponentTypeLibrary, Name: "std", Version: info.GoVersion,
			PackageURL: "pkg:golang/std@" + info.GoVersion[len("go"):]}}
		for _, m := range info.Deps {
			if m.Replace == nil {
				found = append(found, cdx.Component{Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version,
					PackageURL: "pkg:golang/" + m.Path + "@" + m.Version})
			}
		}
		for _, c := range found {
			if !known[c.PackageURL] {
				known[c.PackageURL] = true
				c.BOMRef = c.PackageURL
				components = append(components, c)
			}
		}
	}
	slices.SortFunc(components, func(a, b cdx.Component) int { return bytes.Compare([]byte(a.BOMRef), []byte(b.BOMRef)) })
	bom.Components = &components
	f, err := os.Create(filepath.Join(r.out, fmt.Sprintf("patchbay_%s_linux_%s.cdx.json", r.version.Name, arch)))
	if err != nil {
		return err
	}
	err = cdx.NewBOMEncoder(f, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	return errors.Join(err, f.Close())
}
