package httpd

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// PortHolder returns the process that listens on the port of an address, such as "postfix (process 812)", or "" where this machine does not
// tell, as for processes of other users.
func PortHolder(addr string) string {
	_, text, err := net.SplitHostPort(addr)
	if err != nil {
		return ""
	}
	port, err := net.LookupPort("tcp", text)
	if err != nil || port == 0 {
		return ""
	}
	sockets := map[string]bool{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		addListeners(table, port, sockets)
	}
	return findProcess(sockets)
}

// tcpListening is the state of a socket that listens, in the tables of the kernel.
const tcpListening = "0A"

// addListeners adds the sockets that listen on a port, as the links of file descriptors name them.
func addListeners(table string, port int, sockets map[string]bool) {
	file, err := os.Open(table)
	if err != nil {
		return
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) < 10 || words[3] != tcpListening {
			continue
		}
		_, hex, _ := strings.Cut(words[1], ":")
		if n, err := strconv.ParseUint(hex, 16, 16); err == nil && int(n) == port {
			sockets["socket:["+words[9]+"]"] = true
		}
	}
}

// findProcess returns the process that has one of the sockets, or "".
func findProcess(sockets map[string]bool) string {
	if len(sockets) == 0 {
		return ""
	}
	descriptors, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, d := range descriptors {
		if target, err := os.Readlink(d); err != nil || !sockets[target] {
			continue
		}
		dir := filepath.Dir(filepath.Dir(d))
		name, err := os.ReadFile(filepath.Join(dir, "comm"))
		if err != nil {
			continue
		}
		return fmt.Sprintf("%s (process %s)", strings.TrimSpace(string(name)), filepath.Base(dir))
	}
	return ""
}
