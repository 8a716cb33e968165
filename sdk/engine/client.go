package engine

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/exchange"
	enginev1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/engine/v1"
)

// Client calls one instance over a connection to its plugin. An error that the caller's own function, reader or writer
// returned ends the call and comes back unchanged.
type Client struct {
	rpc      enginev1.EngineClient
	instance string
}

var (
	_ Engine    = (*Client)(nil)
	_ LogReader = (*Client)(nil)
)

// NewClient makes a client for an instance.
func NewClient(conn grpc.ClientConnInterface, instance string) *Client {
	return &Client{rpc: enginev1.NewEngineClient(conn), instance: instance}
}

// Close does nothing; a client holds nothing open.
func (c *Client) Close() error { return nil }

func (c *Client) callContext(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, exchange.MetaInstance, c.instance)
}

// Info implements Reader.
func (c *Client) Info(ctx context.Context, composeBin string) (*Info, error) {
	p, err := c.rpc.Info(c.callContext(ctx), &enginev1.InfoRequest{ComposeBin: composeBin})
	if err != nil {
		return nil, err
	}
	return infoFrom(p), nil
}

// Containers implements Reader.
func (c *Client) Containers(ctx context.Context, f Filter) ([]Container, error) {
	p, err := c.rpc.Containers(c.callContext(ctx), &enginev1.ContainersRequest{Labels: f.Labels, Ids: f.IDs})
	if err != nil {
		return nil, err
	}
	out := make([]Container, 0, len(p.GetContainers()))
	for _, one := range p.GetContainers() {
		out = append(out, containerFrom(one))
	}
	return out, nil
}

// Inspect implements Reader.
func (c *Client) Inspect(ctx context.Context, id string) (*Detail, error) {
	p, err := c.rpc.Inspect(c.callContext(ctx), &enginev1.InspectRequest{Id: id})
	if err != nil {
		return nil, err
	}
	return detailFrom(p), nil
}

// Images implements Reader.
func (c *Client) Images(ctx context.Context, refs []string) ([]*Image, error) {
	p, err := c.rpc.Images(c.callContext(ctx), &enginev1.ImagesRequest{Refs: refs})
	if err != nil {
		return nil, err
	}
	if len(p.GetImages()) != len(refs) {
		return nil, shortStreamError("%d images were requested and %d answered", len(refs), len(p.GetImages()))
	}
	out := make([]*Image, len(refs))
	for i, one := range p.GetImages() {
		out[i] = imageFrom(one.GetImage())
	}
	return out, nil
}

// Stats implements Reader.
func (c *Client) Stats(ctx context.Context, ids []string) ([]Sample, error) {
	p, err := c.rpc.Stats(c.callContext(ctx), &enginev1.StatsRequest{Ids: ids})
	if err != nil {
		return nil, err
	}
	out := make([]Sample, 0, len(p.GetSamples()))
	for _, one := range p.GetSamples() {
		out = append(out, sampleFrom(one))
	}
	return out, nil
}

// Events implements Reader.
func (c *Client) Events(ctx context.Context, send func(Event) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	st, err := c.rpc.Events(c.callContext(ctx), &enginev1.EventsRequest{})
	if err != nil {
		return err
	}
	return forEachMessage(st, func(p *enginev1.EventsResponse) error { return send(eventFrom(p)) }, shortStreamError("the events ended"))
}

// Pull implements Runner.
func (c *Client) Pull(ctx context.Context, req PullRequest, send func(PullProgress) error) (img *Image, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	st, err := c.rpc.Pull(c.callContext(ctx), req.toProto())
	if err != nil {
		return nil, err
	}
	err = forEachMessage(st, func(p *enginev1.PullResponse) error {
		if p.GetImage() != nil {
			img = imageFrom(p.GetImage())
			return nil
		}
		return send(progressFrom(p.GetProgress()))
	}, nil)
	if err == nil && img == nil {
		err = shortStreamError("the pull ended without an image")
	}
	return img, err
}

// Tag implements Runner.
func (c *Client) Tag(ctx context.Context, image, ref string) error {
	_, err := c.rpc.Tag(c.callContext(ctx), &enginev1.TagRequest{Image: image, Ref: ref})
	return err
}

// Compose implements Runner.
func (c *Client) Compose(ctx context.Context, req ComposeRequest, send func(Line) error) (res *ComposeResult, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	st, err := c.rpc.Compose(c.callContext(ctx), req.toProto())
	if err != nil {
		return nil, err
	}
	err = forEachMessage(st, func(p *enginev1.ComposeResponse) error {
		if p.GetResult() != nil {
			res = resultFrom(p.GetResult())
			return nil
		}
		return send(Line{Stderr: p.GetLine().GetStderr(), Text: p.GetLine().GetText()})
	}, nil)
	if err == nil && res == nil {
		err = shortStreamError("the compose command ended without a result")
	}
	return res, err
}

// Archive implements Archiver.
func (c *Client) Archive(ctx context.Context, container, path string, w io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	st, err := c.rpc.Archive(c.callContext(ctx), &enginev1.ArchiveRequest{Container: container, Path: path})
	if err != nil {
		return err
	}
	return forEachMessage(st, func(p *enginev1.ArchiveResponse) error {
		_, err := w.Write(p.GetData())
		return err
	}, nil)
}

// Restore implements Archiver. What r returns besides io.EOF ends the restoration in the middle.
func (c *Client) Restore(ctx context.Context, container, path string, r io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	st, err := c.rpc.Restore(c.callContext(ctx))
	if err != nil {
		return err
	}
	target := &enginev1.RestoreTarget{Container: container, Path: path}
	err = st.Send(&enginev1.RestoreRequest{Message: &enginev1.RestoreRequest_Target{Target: target}})
	for err == nil {
		piece := make([]byte, chunk)
		n, readErr := r.Read(piece)
		if n > 0 {
			err = st.Send(&enginev1.RestoreRequest{Message: &enginev1.RestoreRequest_Data{Data: piece[:n]}})
		}
		if errors.Is(readErr, io.EOF) {
			break
		}
		if readErr != nil {
			return readErr
		}
	}
	// An error of Send is io.EOF when the call has ended; what it ended with is received.
	_, err = st.CloseAndRecv()
	return err
}

// Logs implements LogReader.
func (c *Client) Logs(ctx context.Context, req LogRequest, send func(LogLine) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	st, err := c.rpc.Logs(c.callContext(ctx), &enginev1.LogsRequest{Container: req.Container, Tail: int32(req.Tail), Follow: req.Follow})
	if err != nil {
		return err
	}
	return forEachMessage(st, func(p *enginev1.LogsResponse) error {
		return send(LogLine{Stderr: p.GetStderr(), Text: p.GetText(), At: p.GetAtUnixMs()})
	}, nil)
}

// forEachMessage hands on what a stream brings until it ends; atEnd is the error of a stream that ends without one.
func forEachMessage[T any](st grpc.ServerStreamingClient[T], do func(*T) error, atEnd error) error {
	for {
		p, err := st.Recv()
		if errors.Is(err, io.EOF) {
			return atEnd
		}
		if err != nil {
			return err
		}
		if err := do(p); err != nil {
			return err
		}
	}
}

func shortStreamError(format string, args ...any) error {
	return errs.Unavailable(errs.ReasonProtocol, format, args...)
}
