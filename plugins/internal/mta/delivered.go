package mta

import "os"

// CountDelivered returns how many copies are in the Maildir.
func (s *Server) CountDelivered() int {
	s.t.Helper()
	dir, err := os.Open(s.pathTo("mail", "inbox", "new"))
	if os.IsNotExist(err) {
		return 0
	}
	if err != nil {
		s.t.Fatal(err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		s.t.Fatal(err)
	}
	return len(names)
}

// RemoveDelivered empties the Maildir.
func (s *Server) RemoveDelivered() {
	s.t.Helper()
	if err := os.RemoveAll(s.pathTo("mail", "inbox")); err != nil {
		s.t.Fatal(err)
	}
}
