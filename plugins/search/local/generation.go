package local

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
)

const fileGeneration = "generation"

// generation counts how often everything was to be indexed again. What was indexed in another generation is indexed once
// more. It is kept in a file, so that a re-index goes on after a restart.
type generation struct {
	path string
	n    atomic.Int64
}

// openGeneration reads the generation that is kept in a directory. One that cannot be read counts as the first.
func openGeneration(dataDir string) *generation {
	g := &generation{path: filepath.Join(dataDir, fileGeneration)}
	if data, err := os.ReadFile(g.path); err == nil {
		if n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64); err == nil {
			g.n.Store(n)
		}
	}
	return g
}

func (g *generation) currentNumber() int64 { return g.n.Load() }

// advanceNumber begins the next generation.
func (g *generation) advanceNumber() error {
	next := g.n.Load() + 1
	if err := writeFile(g.path, []byte(strconv.FormatInt(next, 10)+"\n")); err != nil {
		return fmt.Errorf("begin a re-index: %w", err)
	}
	g.n.Store(next)
	return nil
}
