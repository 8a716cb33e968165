package message

import (
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// codec compresses the pieces of raw bytes.
type codec struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder
}

// newCodec returns a codec, which may be used by several goroutines.
func newCodec() (*codec, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2),
		zstd.WithWindowSize(chunkSize))
	if err != nil {
		return nil, fmt.Errorf("prepare the compression: %w", err)
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(2*chunkSize))
	if err != nil {
		return nil, fmt.Errorf("prepare the compression: %w", err)
	}
	return &codec{encoder, decoder}, nil
}

// compressChunks calls store with each compressed piece of r.
func (c *codec) compressChunks(r io.Reader, store func(number int, data []byte) error) error {
	buffer := make([]byte, chunkSize)
	for number := 0; ; number++ {
		n, err := io.ReadFull(r, buffer)
		if n > 0 {
			if err := store(number, c.encoder.EncodeAll(buffer[:n], nil)); err != nil {
				return err
			}
		}
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			return nil
		default:
			return err
		}
	}
}

// expandChunk returns the bytes of a compressed piece.
func (c *codec) expandChunk(data []byte) ([]byte, error) {
	out, err := c.decoder.DecodeAll(data, nil)
	if err != nil {
		return nil, fmt.Errorf("expand a stored message: %w", err)
	}
	return out, nil
}
