package api

// Out is the answer of an operation: the body alone, with nothing in headers.
type Out[T any] struct{ Body T }

// AnswerWith returns the answer of an operation that has ended with err.
// It takes the results of a call as they are; the body does not count if err is not nil.
func AnswerWith[T any](body T, err error) (*Out[T], error) {
	return &Out[T]{body}, err
}

// OK is the answer of a change that has nothing else to tell.
type OK struct {
	OK bool `json:"ok" example:"true"`
}

// OKAnswer is a response with OK.
type OKAnswer = Out[OK]

// Done returns the answer of a change that has ended with err.
func Done(err error) (*OKAnswer, error) { return AnswerWith(OK{true}, err) }
