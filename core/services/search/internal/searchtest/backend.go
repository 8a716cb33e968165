package searchtest

import (
	"context"
	"io"
	"sync/atomic"

	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// Operations are those of a backend with all seven endpoints, at simple prices.
func Operations() []sdk.Operation {
	flat := func(rate int64) []sdk.PriceTerm { return []sdk.PriceTerm{{Rate: rate}} }
	return []sdk.Operation{
		{Name: sdk.OpSearch, Required: []string{"query"},
			Price: []sdk.PriceTerm{{Rate: 1, Cases: []sdk.PriceCase{{Field: "search_depth", Equals: "advanced", Rate: 2}}}}},
		{Name: sdk.OpExtract, Required: []string{"urls"}, Price: []sdk.PriceTerm{{CountField: "urls", DefaultCount: 1, Unit: 5, Rate: 1}}},
		{Name: sdk.OpCrawl, Required: []string{"url"}, Price: flat(3)},
		{Name: sdk.OpMap, Required: []string{"url"}, Price: flat(2)},
		{Name: sdk.OpResearch, Required: []string{"input"}, Price: flat(40), Stream: true},
		{Name: sdk.OpResearchResult},
	}
}

// Chunks is a stream of given Chunks that ends with an error or io.EOF.
type Chunks struct {
	// HeadOf and UsageOf are what the stream says of itself.
	HeadOf  sdk.Head
	UsageOf *sdk.Usage
	Parts   []string
	// End is the error at the end; nil stands for io.EOF.
	End error
	// Hold is waited for before the end, unless Ctx ends first.
	Hold   <-chan struct{}
	Ctx    context.Context
	Closed atomic.Bool
}

// Head implements client.SearchStream.
func (c *Chunks) Head() sdk.Head { return c.HeadOf }

// Usage implements client.SearchStream.
func (c *Chunks) Usage() *sdk.Usage { return c.UsageOf }

// Close implements client.SearchStream.
func (c *Chunks) Close() { c.Closed.Store(true) }

// Next implements client.SearchStream.
func (c *Chunks) Next() ([]byte, error) {
	if len(c.Parts) == 0 {
		if c.Hold != nil {
			select {
			case <-c.Hold:
			case <-c.Ctx.Done():
				return nil, c.Ctx.Err()
			}
		}
		if c.End == nil {
			return nil, io.EOF
		}
		return nil, c.End
	}
	p := c.Parts[0]
	c.Parts = c.Parts[1:]
	return []byte(p), nil
}
