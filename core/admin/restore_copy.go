package admin

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// bareDatabase returns the name in an archive of what a file is a copy of: a database alone, as it is made before a migration. It is "" for
// an archive.
func bareDatabase(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("open the archive: %w", err)
	}
	defer f.Close()
	begin := make([]byte, 16)
	n, err := io.ReadFull(f, begin)
	switch begin = begin[:n]; {
	case err != nil && err != io.EOF && err != io.ErrUnexpectedEOF:
		return "", fmt.Errorf("read the archive: %w", err)
	case bytes.HasPrefix(begin, []byte("PGDMP")):
		return backupDump, nil
	case bytes.HasPrefix(begin, []byte("SQLite format 3\x00")):
		return backupDatabase, nil
	}
	return "", nil
}

// copyBare puts a copy of a database alone into a directory. The configuration must have that kind of database.
func (r Restoring) copyBare(dir, bare, database string) error {
	if bare != database {
		return errOtherDatabase(database)
	}
	in, err := os.Open(r.Archive)
	if err != nil {
		return fmt.Errorf("open the copy: %w", err)
	}
	defer in.Close()
	return extractFile(in, filepath.Join(dir, database), 0o600)
}

// errOtherDatabase says that an archive has another kind of database than the configuration.
func errOtherDatabase(database string) error {
	return fmt.Errorf("the archive holds another kind of database than plugin.hcl says: %s is not in it", database)
}
