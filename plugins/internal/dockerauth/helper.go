package dockerauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	helperPrefix = "docker-credential-"
	// helperTimeout is how long a credential helper may take.
	helperTimeout = 10 * time.Second
	// maxHelper is how much of a helper's answer is read, in bytes.
	maxHelper = 64 << 10
	// tokenUser is the name that stands for an identity token.
	tokenUser = "<token>"
)

var helperName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`) })

// fromHelper asks a helper under each name that a host has.
func fromHelper(ctx context.Context, helper string, keys []string) (user, password, identityToken string, err error) {
	if !helperName().MatchString(helper) {
		return "", "", "", errors.New("the name of the credential helper is not valid")
	}
	ctx, cancel := context.WithTimeout(ctx, helperTimeout)
	defer cancel()
	for _, key := range keys {
		user, secret, found, err := askHelper(ctx, helperPrefix+helper, key)
		switch {
		case err != nil:
			return "", "", "", err
		case !found:
			continue
		case user == tokenUser:
			return "", "", secret, nil
		}
		return user, secret, "", nil
	}
	return "", "", "", nil
}

// askHelper runs a helper once. What it says is not repeated in errors: it may hold secrets.
func askHelper(ctx context.Context, program, key string) (user, secret string, found bool, err error) {
	// The kernel ends the helper together with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, program, "get")
	cmd.Stdin = strings.NewReader(key)
	out := &limited{}
	cmd.Stdout, cmd.Stderr = out, io.Discard
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", "", false, fmt.Errorf("%s did not answer in time: %w", program, ctx.Err())
	case err != nil && strings.Contains(strings.ToLower(out.String()), "credentials not found"):
		return "", "", false, nil
	case errors.Is(err, exec.ErrNotFound):
		return "", "", false, fmt.Errorf("%s is not in the path", program)
	case err != nil:
		return "", "", false, fmt.Errorf("%s failed: %w", program, err)
	}
	var answer struct{ Username, Secret string }
	if json.Unmarshal(out.Bytes(), &answer) != nil {
		return "", "", false, fmt.Errorf("%s gave an answer that cannot be read", program)
	}
	return answer.Username, answer.Secret, answer.Username != "" || answer.Secret != "", nil
}

// limited keeps the beginning of what is written to it.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	_, _ = l.Buffer.Write(p[:min(len(p), max(0, maxHelper-l.Len()))])
	return len(p), nil
}
