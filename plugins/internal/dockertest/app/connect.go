package main

import (
	"fmt"
	"io"
	"net"
	"os"
)

// connectTo passes what it reads on to a TCP address, and writes what comes back, until either side ends.
func connectTo(address string) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	ended := make(chan error, 2)
	go func() {
		_, err := io.Copy(conn, os.Stdin)
		ended <- err
	}()
	go func() {
		_, err := io.Copy(os.Stdout, conn)
		ended <- err
	}()
	err = <-ended
	_ = conn.Close()
	return err
}
