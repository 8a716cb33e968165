package kit

// User makes a user and returns the API key.
func (c *Core) User(email, role string) string {
	c.T.Helper()
	return c.CLI("user", "create", "-email", email, "-name", "Somebody", "-role", role)
}
