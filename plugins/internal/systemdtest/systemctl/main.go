// Command systemctl asks the manager of a test, whose socket lies beside the program, for what the real one asks systemd.
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/patchbay-dev/patchbay/plugins/internal/systemdtest"
)

func main() {
	answer, err := askManager(os.Args[1:])
	if err != nil {
		answer = systemdtest.Answer{Status: 1, Text: "Failed to connect to bus: " + err.Error()}
	}
	if answer.Status != 0 {
		fmt.Fprintln(os.Stderr, answer.Text)
		os.Exit(answer.Status)
	}
	fmt.Print(answer.Text)
}

func askManager(args []string) (answer systemdtest.Answer, err error) {
	self, err := os.Executable()
	if err != nil {
		return answer, err
	}
	conn, err := net.Dial("unix", filepath.Join(filepath.Dir(self), systemdtest.SocketName))
	if err != nil {
		return answer, err
	}
	defer conn.Close()
	if err := json.NewEncoder(conn).Encode(args); err != nil {
		return answer, err
	}
	return answer, json.NewDecoder(conn).Decode(&answer)
}
