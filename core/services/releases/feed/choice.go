package feed

// Choice chooses items of the feed, by the words of the API.
type Choice struct {
	Types, Scope, Items, Org, Search, Cursor string
	Limit                                    int
}

// Query returns the query of a user for the chosen items. types is the name of the parameter for types, logins returns the logins of the
// user.
func (c Choice) Query(userID, types string, logins func() ([]string, error)) (q Query, err error) {
	q = Query{UserID: userID, Cursor: c.Cursor, Limit: c.Limit}
	if q.Types, err = ParseTypes(c.Types, types); err != nil {
		return q, err
	}
	if q.Scope, err = ParseScope(c.Scope, c.Items, c.Org, logins); err == nil {
		q.Search, err = ParseSearch(c.Search)
	}
	return q, err
}
