package message

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/patchbay-dev/patchbay/core/services/mail/rfc822"
)

// OpenRaw returns an opener of the raw bytes of a message, which are read piece by piece for as long as ctx lasts.
func (s *Store) OpenRaw(ctx context.Context, m Stored) rfc822.Opener {
	return func() (io.ReadCloser, error) {
		return &rawReader{ctx: ctx, store: s, content: m.ContentID, left: m.Size}, nil
	}
}

// rawReader reads the pieces of raw bytes.
type rawReader struct {
	ctx     context.Context
	store   *Store
	content int64
	number  int
	left    int64
	piece   bytes.Reader
}

// errRawGone is the error of raw bytes that were deleted while they were read.
var errRawGone = errors.New("the raw bytes of the message are gone")

// Read implements io.Reader.
func (r *rawReader) Read(p []byte) (int, error) {
	for r.piece.Len() == 0 {
		if r.left <= 0 {
			return 0, io.EOF
		}
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	return r.piece.Read(p)
}

// next loads the next piece.
func (r *rawReader) next() error {
	var data [][]byte
	err := r.store.store.DB(r.ctx).Raw("SELECT data FROM mail_chunks WHERE content_id = ? AND number = ?", r.content,
		r.number).Scan(&data).Error
	if err != nil {
		return err
	}
	if len(data) == 0 {
		return errRawGone
	}
	piece, err := r.store.codec.expandChunk(data[0])
	if err != nil {
		return err
	}
	r.number++
	r.left -= int64(len(piece))
	r.piece.Reset(piece)
	return nil
}

// Close implements io.Closer.
func (r *rawReader) Close() error {
	r.left = 0
	r.piece.Reset(nil)
	return nil
}
