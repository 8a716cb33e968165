package proxy

import (
	"testing"

	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

func TestPrice(t *testing.T) {
	depth := []sdk.PriceCase{{Field: "extract_depth", Equals: "advanced", Rate: 2}}
	perFive := []sdk.PriceTerm{{CountField: "urls", DefaultCount: 1, Unit: 5, Rate: 1, Cases: depth}}
	pages := []sdk.PriceTerm{
		{CountField: "limit", DefaultCount: 50, Unit: 10, Rate: 1, Cases: []sdk.PriceCase{{Field: "instructions", Rate: 2}}},
		{CountField: "limit", DefaultCount: 50, Unit: 5, Rate: 1, Cases: depth},
	}
	model := []sdk.PriceTerm{{Rate: 40, Cases: []sdk.PriceCase{{Field: "model", Equals: "pro", Rate: 100},
		{Field: "model", Equals: "mini", Rate: 20}}}}
	tests := []struct {
		name  string
		terms []sdk.PriceTerm
		body  string
		want  int64
	}{
		{"free", nil, `{}`, 0},
		{"flat", []sdk.PriceTerm{{Rate: 1}}, `{}`, 1},
		{"default count", perFive, `{}`, 1},
		{"one url", perFive, `{"urls":"https://a"}`, 1},
		{"five urls", perFive, `{"urls":[1,2,3,4,5]}`, 1},
		{"six urls", perFive, `{"urls":[1,2,3,4,5,6]}`, 2},
		{"six urls, advanced", perFive, `{"urls":[1,2,3,4,5,6],"extract_depth":"advanced"}`, 4},
		{"case written with escapes", perFive, `{"extract_depth":"advance\u0064"}`, 2},
		{"other case", perFive, `{"extract_depth":"basic"}`, 1},
		{"case of another type", perFive, `{"extract_depth":true}`, 1},
		{"two terms, default", pages, `{}`, 15},
		{"two terms", pages, `{"limit":11}`, 2 + 3},
		{"present", pages, `{"limit":10,"instructions":"x"}`, 2 + 2},
		{"blank is absent", pages, `{"limit":10,"instructions":""}`, 1 + 2},
		{"null is absent", pages, `{"limit":null,"instructions":null}`, 15},
		{"negative", pages, `{"limit":-3}`, 0},
		{"fraction", pages, `{"limit":10.5}`, 2 + 3},
		{"not a number", pages, `{"limit":{"a":1}}`, 15},
		{"beyond all numbers", pages, `{"limit":1e999}`, 15},
		{"huge", pages, `{"limit":1e300}`, 214748365 + 429496730},
		{"model", model, `{"model":"pro"}`, 100},
		{"model unknown", model, `{"model":"other"}`, 40},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			op := newOperation(sdk.Operation{Price: tt.terms})
			in, err := ParseInput([]byte(tt.body), op.Want)
			if err != nil {
				t.Fatal(err)
			}
			if got := callPrice(op.Price, in.fields); got != tt.want {
				t.Errorf("%d, want %d", got, tt.want)
			}
		})
	}
}
