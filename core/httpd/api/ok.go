package api

// OK is the answer of a change that has nothing else to tell.
type OK struct {
	OK bool `json:"ok" example:"true"`
}

// OKAnswer is a response with OK.
type OKAnswer struct{ Body OK }

// Done returns the answer of a change that has ended with err.
func Done(err error) (*OKAnswer, error) {
	if err != nil {
		return nil, err
	}
	return &OKAnswer{OK{true}}, nil
}
