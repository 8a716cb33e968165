package message

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
)

// chunkSize is how much of the raw bytes is compressed and stored as one piece, and how much of a message is held in memory
// while it arrives.
const chunkSize = 512 << 10

// usualSize is the memory that a message gets at first, in bytes.
const usualSize = 16 << 10

// maxUnsigned is the longest header, in bytes, in which a signature is looked for while the message arrives.
const maxUnsigned = 64 << 10

// Content is the raw bytes of a message that has arrived and is not stored yet. Those of a large one are in a file without a
// name, which goes with the process.
type Content struct {
	size   int64
	sum    [sha256.Size]byte
	memory []byte
	file   *os.File
}

// ReadContent reads r to its end. What does not fit into memory goes to a file in dir. Close the result when it is stored.
// Errors of r are returned as they are, those of the file are a *SpoolError.
func ReadContent(r io.Reader, dir string) (*Content, error) {
	c := &Content{}
	head := bytes.NewBuffer(make([]byte, 0, usualSize))
	n, err := head.ReadFrom(io.LimitReader(r, chunkSize))
	if err != nil {
		return nil, err
	}
	c.size, c.memory = n, head.Bytes()
	digest := sha256.New()
	digest.Write(c.memory)
	if n == chunkSize {
		if err := c.spool(r, dir, digest); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	digest.Sum(c.sum[:0])
	return c, nil
}

// SpoolError says that a message could not be held on the disk while it arrived.
type SpoolError struct{ Err error }

// Error implements error.
func (e *SpoolError) Error() string { return "hold a large message: " + e.Err.Error() }

// Unwrap returns the error of the disk.
func (e *SpoolError) Unwrap() error { return e.Err }

// spool moves what is in memory to a file, and the rest of r after it.
func (c *Content) spool(r io.Reader, dir string, digest hash.Hash) error {
	var one [1]byte
	n, err := io.ReadFull(r, one[:])
	if n == 0 {
		if err == io.EOF {
			return nil
		}
		return err
	}
	if c.file, err = createUnnamed(dir); err != nil {
		return &SpoolError{err}
	}
	if _, err := c.file.Write(c.memory); err != nil {
		return &SpoolError{err}
	}
	c.memory = nil
	rest, err := io.Copy(io.MultiWriter(spoolWriter{c.file}, digest), io.MultiReader(bytes.NewReader(one[:]), r))
	c.size += rest
	return err
}

// spoolWriter marks the errors of the file.
type spoolWriter struct{ file *os.File }

// Write implements io.Writer.
func (w spoolWriter) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	if err != nil {
		err = &SpoolError{err}
	}
	return n, err
}

// createUnnamed creates a file and removes its name.
func createUnnamed(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(dir, "mail-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Size returns the number of bytes.
func (c *Content) Size() int64 { return c.size }

// Open returns a reader of the bytes from their beginning. Several may be open at once.
func (c *Content) Open() (io.ReadCloser, error) {
	if c.file == nil {
		return io.NopCloser(bytes.NewReader(c.memory)), nil
	}
	return io.NopCloser(io.NewSectionReader(c.file, 0, c.size)), nil
}

// headerEnd is the empty line that ends the header.
var headerEnd = []byte("\r\n\r\n")

// signatureField is the name of the field with a DKIM signature, in lower case.
var signatureField = []byte("dkim-signature")

// mayBeSigned reports whether the header has the name of a DKIM signature anywhere, or is not known.
func (c *Content) mayBeSigned() bool {
	header, _, ends := bytes.Cut(c.memory, headerEnd)
	return !ends || len(header) > maxUnsigned || bytes.Contains(bytes.ToLower(header), signatureField)
}

// Close frees the bytes.
func (c *Content) Close() error {
	c.memory = nil
	if c.file == nil {
		return nil
	}
	if err := c.file.Close(); err != nil {
		return fmt.Errorf("close a spooled message: %w", err)
	}
	return nil
}
