package inbound

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// certificateCheck is how often the files of a certificate are looked at.
const certificateCheck = 5 * time.Second

// certificateFile is a certificate that is read again when its files change.
type certificateFile struct {
	cert, key string
	logger    hclog.Logger

	mu       sync.Mutex
	loaded   *tls.Certificate
	changed  [2]time.Time
	lookedAt time.Time
}

// loadCertificate reads the files.
func (f *certificateFile) loadCertificate() (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	changed, err := f.modifiedTimes()
	if err != nil {
		return nil, fmt.Errorf("read the certificate for mail: %w", err)
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return nil, fmt.Errorf("read the certificate for mail from %s and %s: %w", f.cert, f.key, err)
	}
	f.loaded, f.changed = &pair, changed
	return f.loaded, nil
}

// modifiedTimes returns when the two files were changed.
func (f *certificateFile) modifiedTimes() (at [2]time.Time, err error) {
	for i, name := range []string{f.cert, f.key} {
		info, err := os.Stat(name)
		if err != nil {
			return at, err
		}
		at[i] = info.ModTime()
	}
	return at, nil
}

// getCertificate implements tls.Config.GetCertificate. While new files cannot be used, the former certificate stays.
func (f *certificateFile) getCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if f.isStale() {
		if _, err := f.loadCertificate(); err != nil {
			f.logger.Error("cannot load the new SMTP certificate", "error", err)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.loaded, nil
}

// isStale reports whether the files have changed. It looks at them now and then.
func (f *certificateFile) isStale() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.lookedAt) < certificateCheck {
		return false
	}
	f.lookedAt = time.Now()
	changed, err := f.modifiedTimes()
	return err == nil && changed != f.changed
}
