//go:build !linux

package httpd

import "context"

// refuseNew does nothing: only Linux lets a listener refuse clients without resetting those that wait.
func (s *Server) refuseNew(context.Context) {}
