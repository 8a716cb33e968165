package testkit

import (
	"math"
	"slices"
)

// NDCG returns the normalized discounted cumulative gain of the first depth results, from 0 to 1. grades goes from the results that
// answer to how well they do.
func NDCG(grades map[string]int, found []string, depth int) float64 {
	var best []int
	for _, grade := range grades {
		best = append(best, grade)
	}
	slices.SortFunc(best, func(a, b int) int { return b - a })
	got, ideal := 0.0, 0.0
	for i := range depth {
		discount := math.Log2(float64(i + 2))
		if i < len(found) {
			got += (math.Exp2(float64(grades[found[i]])) - 1) / discount
		}
		if i < len(best) {
			ideal += (math.Exp2(float64(best[i])) - 1) / discount
		}
	}
	return got / ideal
}
