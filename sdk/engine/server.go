package engine

import (
	"bytes"
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	enginev1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/engine/v1"
)

type server struct {
	enginev1.UnimplementedEngineServer
	router framework.Router
}

// withInstance runs do with the instance that the call is for.
func (s *server) withInstance(ctx context.Context, do func(Engine) error) error {
	value, release, err := s.router.Instance(ctx, Kind)
	if err != nil {
		return err
	}
	defer release()
	e, ok := value.(Engine)
	if !ok {
		return errs.New(errs.Plugin, codes.Unimplemented, errs.ReasonUnsupported, "the instance is not an engine")
	}
	return withSource(ctx, do(e))
}

func (s *server) Info(ctx context.Context, p *enginev1.InfoRequest) (out *enginev1.InfoResponse, err error) {
	err = s.withInstance(ctx, func(e Engine) error {
		info, err := e.Info(ctx, p.GetComposeBin())
		if err == nil {
			out = info.toProto()
		}
		return err
	})
	return out, err
}

func (s *server) Containers(ctx context.Context, p *enginev1.ContainersRequest) (out *enginev1.ContainersResponse, err error) {
	err = s.withInstance(ctx, func(e Engine) error {
		all, err := e.Containers(ctx, Filter{Labels: p.GetLabels(), IDs: p.GetIds()})
		out = &enginev1.ContainersResponse{}
		for i := range all {
			out.Containers = append(out.Containers, all[i].toProto())
		}
		return err
	})
	return out, err
}

func (s *server) Inspect(ctx context.Context, p *enginev1.InspectRequest) (out *enginev1.InspectResponse, err error) {
	err = s.withInstance(ctx, func(e Engine) error {
		if err := checkID(p.GetId()); err != nil {
			return err
		}
		d, err := e.Inspect(ctx, p.GetId())
		if err == nil {
			out = d.toProto()
		}
		return err
	})
	return out, err
}

func (s *server) Images(ctx context.Context, p *enginev1.ImagesRequest) (out *enginev1.ImagesResponse, err error) {
	err = s.withInstance(ctx, func(e Engine) error {
		for _, ref := range p.GetRefs() {
			if err := checkRef(ref); err != nil {
				return err
			}
		}
		all, err := e.Images(ctx, p.GetRefs())
		if err != nil {
			return err
		}
		if len(all) != len(p.GetRefs()) {
			return errs.New(errs.Plugin, codes.Internal, "INTERNAL", "%d images were requested and %d answered", len(p.GetRefs()), len(all))
		}
		out = &enginev1.ImagesResponse{}
		for _, i := range all {
			out.Images = append(out.Images, &enginev1.ImageResult{Image: i.toProto()})
		}
		return nil
	})
	return out, err
}

func (s *server) Stats(ctx context.Context, p *enginev1.StatsRequest) (out *enginev1.StatsResponse, err error) {
	err = s.withInstance(ctx, func(e Engine) error {
		for _, id := range p.GetIds() {
			if err := checkID(id); err != nil {
				return err
			}
		}
		all, err := e.Stats(ctx, p.GetIds())
		out = &enginev1.StatsResponse{}
		for i := range all {
			out.Samples = append(out.Samples, all[i].toProto())
		}
		return err
	})
	return out, err
}

func (s *server) Events(_ *enginev1.EventsRequest, st grpc.ServerStreamingServer[enginev1.EventsResponse]) error {
	ctx := st.Context()
	return s.withInstance(ctx, func(e Engine) error {
		err := e.Events(ctx, func(ev Event) error { return st.Send(ev.toProto()) })
		if err == nil && ctx.Err() == nil {
			err = errs.Unavailable(errs.ReasonProtocol, "the engine ended its events")
		}
		return err
	})
}

func (s *server) Pull(p *enginev1.PullRequest, st grpc.ServerStreamingServer[enginev1.PullResponse]) error {
	ctx, req := st.Context(), pullFrom(p)
	return s.withInstance(ctx, func(e Engine) error {
		if err := req.Check(); err != nil {
			return err
		}
		img, err := e.Pull(ctx, req, func(p PullProgress) error {
			return st.Send(&enginev1.PullResponse{Message: &enginev1.PullResponse_Progress{Progress: p.toProto()}})
		})
		if err != nil {
			return err
		}
		if img == nil {
			return errs.New(errs.Plugin, codes.Internal, "INTERNAL", "the pull gave no image")
		}
		return st.Send(&enginev1.PullResponse{Message: &enginev1.PullResponse_Image{Image: img.toProto()}})
	})
}

func (s *server) Tag(ctx context.Context, p *enginev1.TagRequest) (*enginev1.TagResponse, error) {
	err := s.withInstance(ctx, func(e Engine) error {
		if err := errors.Join(checkRef(p.GetImage()), checkRef(p.GetRef())); err != nil {
			return err
		}
		return e.Tag(ctx, p.GetImage(), p.GetRef())
	})
	return &enginev1.TagResponse{}, err
}

func (s *server) Compose(p *enginev1.ComposeRequest, st grpc.ServerStreamingServer[enginev1.ComposeResponse]) error {
	ctx, req := st.Context(), composeFrom(p)
	return s.withInstance(ctx, func(e Engine) error {
		if err := req.Check(); err != nil {
			return err
		}
		res, err := e.Compose(ctx, req, func(l Line) error {
			return st.Send(&enginev1.ComposeResponse{Message: &enginev1.ComposeResponse_Line{Line: &enginev1.Line{Stderr: l.Stderr, Text: l.Text}}})
		})
		if err != nil {
			return err
		}
		return st.Send(&enginev1.ComposeResponse{Message: &enginev1.ComposeResponse_Result{Result: res.toProto()}})
	})
}

// chunk is how many bytes of a tar stream one message holds at most.
const chunk = 256 << 10

func (s *server) Archive(p *enginev1.ArchiveRequest, st grpc.ServerStreamingServer[enginev1.ArchiveResponse]) error {
	ctx := st.Context()
	return s.withInstance(ctx, func(e Engine) error {
		if err := checkTarget(p.GetContainer(), p.GetPath()); err != nil {
			return err
		}
		return e.Archive(ctx, p.GetContainer(), p.GetPath(), chunks(func(b []byte) error {
			return st.Send(&enginev1.ArchiveResponse{Data: b})
		}))
	})
}

// chunks is a writer that sends what it gets in pieces of its own.
type chunks func([]byte) error

func (c chunks) Write(p []byte) (n int, err error) {
	for n < len(p) {
		piece := bytes.Clone(p[n:min(n+chunk, len(p))])
		if err := c(piece); err != nil {
			return n, err
		}
		n += len(piece)
	}
	return n, nil
}

func (s *server) Restore(st grpc.ClientStreamingServer[enginev1.RestoreRequest, enginev1.RestoreResponse]) error {
	ctx := st.Context()
	err := s.withInstance(ctx, func(e Engine) error {
		first, err := st.Recv()
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		to := first.GetTarget()
		if err := checkTarget(to.GetContainer(), to.GetPath()); err != nil {
			return err
		}
		return e.Restore(ctx, to.GetContainer(), to.GetPath(), &received{next: func() ([]byte, error) {
			m, err := st.Recv()
			return m.GetData(), err
		}})
	})
	if err != nil {
		return err
	}
	return st.SendAndClose(&enginev1.RestoreResponse{})
}

// received is a reader of what comes in pieces.
type received struct {
	next func() ([]byte, error)
	rest []byte
}

func (r *received) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		b, err := r.next()
		if err != nil {
			return 0, err
		}
		r.rest = b
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
