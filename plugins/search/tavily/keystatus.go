package tavily

import (
	"context"
	"encoding/json"
	"math"
	"net/http"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// usageAnswer is the part of GET /usage that matters here. A limit of null means that there is none of its own.
type usageAnswer struct {
	Key struct {
		Usage *float64 `json:"usage"`
		Limit *float64 `json:"limit"`
	} `json:"key"`
	Account struct {
		Plan      string   `json:"current_plan"`
		Usage     *float64 `json:"plan_usage"`
		Limit     *float64 `json:"plan_limit"`
		PaygUsage *float64 `json:"paygo_usage"`
		PaygLimit *float64 `json:"paygo_limit"`
	} `json:"account"`
}

// KeyStatus implements search.KeyChecker.
func (b *backend) KeyStatus(ctx context.Context, credential schema.Secret) (*search.KeyStatus, error) {
	resp, err := b.call(ctx, credential, http.MethodGet, b.endpoints[memberUsage], nil)
	if err != nil {
		return nil, err
	}
	if !success(resp.Status) {
		if resp.Key.State == search.KeyUnknown {
			return nil, errs.Unavailable(errs.ReasonStatus, "upstream answered with status %d when asked for usage", resp.Status)
		}
		return &search.KeyStatus{Key: resp.Key}, nil
	}
	var answer usageAnswer
	if err := json.Unmarshal(resp.Body, &answer); err != nil {
		return nil, errs.Unavailable(errs.ReasonProtocol, "read usage: answer is not what the API promises")
	}
	return answer.status(), nil
}

// status takes the key's own limit if it has one, else that of the account.
func (a *usageAnswer) status() *search.KeyStatus {
	out := &search.KeyStatus{Key: search.KeyVerdict{State: search.KeyOK}, Plan: a.Account.Plan}
	account := reached(a.Account.Usage, a.Account.Limit) && !left(a.Account.PaygUsage, a.Account.PaygLimit)
	if a.Key.Limit != nil && *a.Key.Limit > 0 {
		out.Used, out.Limit = whole(a.Key.Usage), whole(a.Key.Limit)
	} else {
		out.Used, out.Limit = whole(a.Account.Usage), whole(a.Account.Limit)
	}
	switch {
	case reached(a.Key.Usage, a.Key.Limit):
		out.Key = search.KeyVerdict{State: search.KeyExhausted, Reason: "limit of the key is reached"}
	case account:
		out.Key = search.KeyVerdict{State: search.KeyExhausted, Reason: "limit of the plan is reached"}
	}
	return out
}

// reached tells that there is a limit and nothing is left of it.
func reached(used, limit *float64) bool {
	return limit != nil && *limit > 0 && used != nil && *used >= *limit
}

// left tells that there is a limit and something is left of it.
func left(used, limit *float64) bool {
	return limit != nil && *limit > 0 && (used == nil || *used < *limit)
}

func whole(n *float64) int64 {
	if n == nil || *n <= 0 || *n > math.MaxInt32 {
		return 0
	}
	return int64(math.Ceil(*n))
}
