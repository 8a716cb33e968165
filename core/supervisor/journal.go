package supervisor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/patchbay-dev/patchbay/core/privatedir"
)

// schemaVersion is that of the state file.
const schemaVersion = 1

// stateFile is the content of the state file.
type stateFile struct {
	SchemaVersion int `json:"schemaVersion"`
	// Operations are the last ones, the newest first.
	Operations []Operation `json:"operations"`
}

// Journal keeps the operations in the state file, which holds every change before the next step is done. One process uses a
// state file at a time.
type Journal struct {
	path string
	lock *os.File

	mu         sync.Mutex
	operations []Operation
}

// OpenJournal reads a state file, or begins one where there is none. The directory is made. The error says what to do if another
// supervisor uses the file, or if it cannot be read.
func OpenJournal(path string) (*Journal, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of the state file: %w; %s", err,
			privatedir.OwnerRemedy(filepath.Dir(path), "make it yourself, writable for the user that runs the supervisor"))
	}
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		dir := filepath.Dir(path)
		return nil, fmt.Errorf("open the lock of the state file: %w; %s", err,
			privatedir.OwnerRemedy(dir, "make "+dir+" writable for the user that runs the supervisor"))
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		lock.Close()
		return nil, fmt.Errorf("another supervisor uses the state file %s: stop it first", path)
	}
	removeUnfinished(path)
	removeUnfinished(overrideBeside(path))
	j := &Journal{path: path, lock: lock}
	if err := j.readFile(); err != nil {
		j.Close()
		return nil, err
	}
	return j, nil
}

// readFile takes in what the state file holds, if there is one.
func (j *Journal) readFile() error {
	raw, err := os.ReadFile(j.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the state file: %w", err)
	}
	var file stateFile
	if err := json.Unmarshal(raw, &file); err != nil {
		return fmt.Errorf("the state file %s cannot be read (%w): move it away to begin a new one", j.path, err)
	}
	if file.SchemaVersion != schemaVersion {
		return fmt.Errorf("the state file %s has the schema version %d, and this supervisor knows %d: use the supervisor that wrote it, or move the file away", j.path, file.SchemaVersion, schemaVersion)
	}
	j.operations = file.Operations
	return nil
}

// Close gives the state file up.
func (j *Journal) Close() { j.lock.Close() }

// Operations returns the operations that are kept, the newest first.
func (j *Journal) Operations() []Operation {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := make([]Operation, 0, len(j.operations))
	for i := range j.operations {
		out = append(out, j.operations[i].clone())
	}
	return out
}

// Put stores an operation, in place of the one with its id, or as the newest. It returns when the file is on the disk; after an
// error the former content stays.
func (j *Journal) Put(o Operation) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	next := slices.Clone(j.operations)
	if i := slices.IndexFunc(next, func(p Operation) bool { return p.ID == o.ID }); i >= 0 {
		next[i] = o.clone()
	} else {
		next = slices.Insert(next, 0, o.clone())
	}
	next = trimOperations(next)
	raw, err := json.MarshalIndent(stateFile{schemaVersion, next}, "", "  ")
	if err != nil {
		return fmt.Errorf("write the state file: %w", err)
	}
	if err := replaceFile(j.path, append(raw, '\n')); err != nil {
		return fmt.Errorf("write the state file: %w", err)
	}
	j.operations = next
	return nil
}

// trimOperations drops what is too much: the oldest operations that have replaced nothing, and then the oldest.
func trimOperations(list []Operation) []Operation {
	for len(list) > maxOperations {
		drop := len(list) - 1
		for i := drop; i > 0; i-- {
			if !list[i].hasReplaced() {
				drop = i
				break
			}
		}
		list = slices.Delete(list, drop, drop+1)
	}
	return list
}

// replaceFile gives a file another content at once: whoever reads it, also after a power cut, finds the former one or the new one.
func replaceFile(path string, content []byte) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil {
		err = privatedir.SyncDirectory(dir)
	}
	return err
}

// removeUnfinished removes what replaceFile leaves beside a file when its process is killed. Nobody may be replacing the file.
func removeUnfinished(path string) {
	prefix := "." + filepath.Base(path) + "."
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return
	}
	for _, e := range entries {
		if number, ok := strings.CutPrefix(e.Name(), prefix); ok && strings.Trim(number, "0123456789") == "" {
			_ = os.Remove(filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
}

// removeFile removes a file, if it is there, for good.
func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return privatedir.SyncDirectory(filepath.Dir(path))
}
