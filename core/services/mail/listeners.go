package mail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/services/mail/inbound"
)

// listenRetry is the pause between attempts to listen where that failed.
const listenRetry = 10 * time.Second

// DownListener is an address where no mail is taken in at present.
type DownListener struct {
	// Address is what the setting says, and Setting where it stands.
	Address, Setting string
	// Taken says that another process has the address, Holder which one; "" if that is not known. Reason is the error.
	Taken          bool
	Holder, Reason string
	// Retry is the pause between attempts.
	Retry time.Duration
}

// Error implements error: it says what to do.
func (d DownListener) Error() string {
	if !d.Taken {
		return fmt.Sprintf("not ready: cannot listen on %s (%s): %s. Retrying every %s.", d.Address, d.Setting, d.Reason, d.Retry)
	}
	where, holder := "address "+d.Address, ""
	if host, port, err := net.SplitHostPort(d.Address); err == nil {
		where = "port " + port + " on " + cmp.Or(host, "all addresses")
	}
	if d.Holder != "" {
		holder = " by " + d.Holder
	}
	return fmt.Sprintf("not ready: %s is in use%s. Change %s in plugin.hcl and restart, or stop the other program. Retrying every %s.",
		where, holder, d.Setting, d.Retry)
}

// listeners are the SMTP servers of a service. One that cannot listen does not keep the service from working, and is tried again.
type listeners struct {
	mu     sync.Mutex
	up     []*inbound.Server
	down   []*waitingListener
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// waitingListener is a server that cannot listen yet.
type waitingListener struct {
	server *inbound.Server
	state  DownListener
}

// startListeners takes mail in where the settings say so. It fails for settings that cannot work, such as an unreadable certificate.
func (s *Service) startListeners() error {
	var all []*waitingListener
	for i, set := range s.state.Load().settings.SMTP {
		server, err := inbound.NewServer(s.serverConfig(set))
		if err != nil {
			return err
		}
		all = append(all, &waitingListener{server, DownListener{Address: set.Listen, Setting: settingName(i), Retry: s.listenRetry()}})
	}
	s.listeners.mu.Lock()
	s.listeners.down = all
	s.listeners.mu.Unlock()
	s.tryListening()
	if len(s.DownListeners()) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.listeners.cancel = cancel
	s.listeners.done.Go(func() { s.retryListening(ctx) })
	return nil
}

// settingName is where the address of the n-th listener stands.
func settingName(n int) string {
	if n == 0 {
		return "smtp.listen"
	}
	return fmt.Sprintf("listen of smtp block %d", n+1)
}

// listenRetry returns the pause between attempts to listen.
func (s *Service) listenRetry() time.Duration {
	if s.cfg.ListenRetry > 0 {
		return s.cfg.ListenRetry
	}
	return listenRetry
}

// retryListening tries until mail is taken in everywhere.
func (s *Service) retryListening(ctx context.Context) {
	tick := time.NewTicker(s.listenRetry())
	defer tick.Stop()
	for len(s.DownListeners()) > 0 {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.tryListening()
		}
	}
}

// tryListening starts the servers that do not listen yet. A reason is logged once.
func (s *Service) tryListening() {
	l := &s.listeners
	l.mu.Lock()
	waiting := slices.Clone(l.down)
	l.mu.Unlock()
	for _, w := range waiting {
		state := w.state
		err := w.server.Start()
		if err != nil {
			state.Reason, state.Taken = err.Error(), errors.Is(err, syscall.EADDRINUSE)
			state.Holder = ""
			if state.Taken {
				state.Holder = httpd.PortHolder(state.Address)
			}
			if state != w.state {
				s.log.Warn(state.Error())
			}
			l.mu.Lock()
			w.state = state
			l.mu.Unlock()
			continue
		}
		l.mu.Lock()
		l.up = append(l.up, w.server)
		l.down = slices.DeleteFunc(l.down, func(other *waitingListener) bool { return other == w })
		l.mu.Unlock()
		for _, at := range w.server.Addresses() {
			s.log.Info("SMTP listening", "address", at.String())
		}
	}
}

// DownListeners returns where no mail is taken in at present, although the settings say so.
func (s *Service) DownListeners() (out []DownListener) {
	s.listeners.mu.Lock()
	defer s.listeners.mu.Unlock()
	for _, w := range s.listeners.down {
		out = append(out, w.state)
	}
	return out
}

// Impaired implements module.ImpairmentChecker.
func (s *Service) Impaired() error {
	var all []error
	for _, d := range s.DownListeners() {
		all = append(all, d)
	}
	return errors.Join(all...)
}

// SMTPAddresses returns where mail is taken in.
func (s *Service) SMTPAddresses() (all []string) {
	for _, at := range s.smtpAddresses() {
		all = append(all, at.String())
	}
	return all
}

func (s *Service) smtpAddresses() (all []net.Addr) {
	s.listeners.mu.Lock()
	defer s.listeners.mu.Unlock()
	for _, server := range s.listeners.up {
		all = append(all, server.Addresses()...)
	}
	return all
}

// closeListeners takes no more mail in.
func (s *Service) closeListeners() {
	if s.listeners.cancel != nil {
		s.listeners.cancel()
	}
	s.listeners.done.Wait()
	s.listeners.mu.Lock()
	up := s.listeners.up
	s.listeners.mu.Unlock()
	for _, server := range up {
		server.Close()
	}
}
