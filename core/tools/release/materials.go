package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"aead.dev/minisign"
	cdx "github.com/CycloneDX/cyclonedx-go"
)

// sumsName is the file of the checksums.
const sumsName = "SHA256SUMS"

// writeMaterials writes the bill of materials of the binaries of a directory: the modules that they say they are made of.
func (r *release) writeMaterials(arch, bin string) error {
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Timestamp: r.date.Format(time.RFC3339), Component: &cdx.Component{Type: cdx.ComponentTypeApplication, Name: "patchbay", Version: r.version}}
	var components []cdx.Component
	known := map[string]bool{}
	for _, name := range []string{"patchbay", "patchbay-plugins"} {
		info, err := buildinfo.ReadFile(filepath.Join(bin, name))
		if err != nil {
			return fmt.Errorf("read what %s is made of: %w", name, err)
		}
		found := []cdx.Component{{Type: cdx.ComponentTypeLibrary, Name: "std", Version: info.GoVersion, PackageURL: "pkg:golang/std@" + info.GoVersion[len("go"):]}}
		for _, m := range info.Deps {
			if m.Replace == nil {
				found = append(found, cdx.Component{Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: "pkg:golang/" + m.Path + "@" + m.Version})
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
	f, err := os.Create(filepath.Join(r.out, fmt.Sprintf("patchbay_%s_linux_%s.cdx.json", r.version, arch)))
	if err != nil {
		return err
	}
	err = cdx.NewBOMEncoder(f, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	return errors.Join(err, f.Close())
}

// writeChecksums writes the checksums of all artefacts, as sha256sum does.
func (r *release) writeChecksums() error {
	names, err := filepath.Glob(filepath.Join(r.out, "*"))
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, name := range names {
		sum, err := sumFile(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%s  %s\n", sum, filepath.Base(name))
	}
	fmt.Print(sums.String())
	return os.WriteFile(filepath.Join(r.out, sumsName), sums.Bytes(), 0o644)
}

// sumFile returns the SHA-256 of a file in hexadecimal.
func sumFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// readSigningKey returns the key that MINISIGN_KEY names, nil if there is none and none is wanted.
func readSigningKey(unsigned bool) (*minisign.PrivateKey, error) {
	name := os.Getenv("MINISIGN_KEY")
	switch {
	case name == "" && unsigned:
		return nil, nil
	case name == "":
		return nil, errors.New("MINISIGN_KEY names no key: set it, or say -unsigned")
	}
	key, err := minisign.PrivateKeyFromFile(os.Getenv("MINISIGN_PASSWORD"), name)
	if err != nil {
		return nil, fmt.Errorf("read the key of MINISIGN_KEY: %w", err)
	}
	return &key, nil
}

// signChecksums writes the minisign signature of the checksums. The trusted comment names the version.
func (r *release) signChecksums(key minisign.PrivateKey) error {
	sums, err := os.ReadFile(filepath.Join(r.out, sumsName))
	if err != nil {
		return err
	}
	signature := minisign.SignWithComments(key, sums, "patchbay "+r.version, "patchbay "+r.version)
	return os.WriteFile(filepath.Join(r.out, sumsName+".minisig"), signature, 0o644)
}
