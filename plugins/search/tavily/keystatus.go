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
	resp, err := b.callUpstream(ctx, credential, http.MethodGet, b.endpoints[memberUsage], nil)
	if err != nil {
		return nil, err
	}
	if !isSuccess(resp.Status) {
		if resp.Key.State == search.KeyUnknown {
			return nil, errs.Unavailable(errs.ReasonStatus, "upstream answered with status %d when asked for usage", resp.Status)
		}
		return &search.KeyStatus{Key: resp.Key}, nil
	}
	var answer usageAnswer
	if err := json.Unmarshal(resp.Body, &answer); err != nil {
		return nil, errs.Unavailable(errs.ReasonProtocol, "read usage: answer is not what the API promises")
	}
	return answer.keyStatus(), nil
}

// keyStatus takes the key's own limit if it has one, else that of the account.
func (a *usageAnswer) keyStatus() *search.KeyStatus {
	out := &search.KeyStatus{Key: search.KeyVerdict{State: search.KeyOK}, Plan: a.Account.Plan}
	account := limitReached(a.Account.Usage, a.Account.Limit) && !limitLeft(a.Account.PaygUsage, a.Account.PaygLimit)
	if a.Key.Limit != nil && *a.Key.Limit > 0 {
		out.Used, out.Limit = wholeCredits(a.Key.Usage), wholeCredits(a.Key.Limit)
	} else {
		out.Used, out.Limit = wholeCredits(a.Account.Usage), wholeCredits(a.Account.Limit)
	}
	switch {
	case limitReached(a.Key.Usage, a.Key.Limit):
		out.Key = search.KeyVerdict{State: search.KeyExhausted, Reason: "limit of the key is reached"}
	case account:
		out.Key = search.KeyVerdict{State: search.KeyExhausted, Reason: "limit of the plan is reached"}
	}
	return out
}

// limitReached tells that there is a limit and nothing is left of it.
func limitReached(used, limit *float64) bool {
	return limit != nil && *limit > 0 && used != nil && *used >= *limit
}

// limitLeft tells that there is a limit and something is left of it.
func limitLeft(used, limit *float64) bool {
	return limit != nil && *limit > 0 && (used == nil || *used < *limit)
}

func wholeCredits(n *float64) int64 {
	if n == nil || *n <= 0 || *n > math.MaxInt32 {
		return 0
	}
	return int64(math.Ceil(*n))
}
