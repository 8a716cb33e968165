package address

import (
	"crypto/rand"
	"math/big"
	"strconv"
	"strings"
)

// The words of random names.
const (
	adjectives = "amber bold brisk calm clear coral cosmic crisp dapper deft early fair fleet fresh gentle golden grand green happy honest indigo ivory jade jolly keen kind lively lucid lucky merry mild mint misty neat noble olive opal pearl plain polar prime proud quick quiet rapid ruby silver sleek smart snowy solar spry still sunny swift teal tidy topaz vivid warm wise zesty"
	nouns      = "acorn badger beacon birch bison breeze brook canyon cedar cliff clover comet coral crane creek dune eagle ember falcon fern finch fjord forest fox garden glade harbor hawk hazel heron hill island juniper kestrel lagoon lake lark linden lotus lynx maple marsh meadow mesa moon moss oak orchid otter owl panda pebble pine plover pond poppy prairie quail raven reef ridge river robin rowan sage seal spruce stone swan thistle tiger trail tulip valley walnut willow wren"
)

// RandomLocal returns a local part that is easy to read out, such as calm-otter42. The later the attempt, counted from 0, the
// more digits it has, so that a free one is found.
func RandomLocal(attempt int) string {
	name := pickWord(adjectives) + "-" + pickWord(nouns)
	digits := 100
	if attempt > 2 {
		digits = 1_000_000
	}
	return name + strconv.Itoa(randomInt(digits))
}

// RandomIndex returns a number from 0 to below n, which must be at least 1.
func RandomIndex(n int) int { return randomInt(n) }

func pickWord(words string) string {
	list := strings.Fields(words)
	return list[randomInt(len(list))]
}

// randomInt returns a number from 0 to below n.
func randomInt(n int) int {
	v, err := rand.Int(rand.Reader, big.NewInt(int64(n)))
	if err != nil { // crypto/rand never fails
		return 0
	}
	return int(v.Int64())
}
