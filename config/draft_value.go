package config

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

// Expression is a value as it is written into plugin.hcl. The zero value stands for none: the attribute is taken out.
type Expression struct{ tokens hclwrite.Tokens }

// IsZero reports whether e stands for no value.
func (e Expression) IsZero() bool { return len(e.tokens) == 0 }

// String returns the expression as it is written.
func (e Expression) String() string { return string(e.tokens.Bytes()) }

// StringExpression returns a text in quotes. Nothing in it is evaluated.
func StringExpression(text string) Expression {
	return Expression{hclwrite.TokensForValue(cty.StringVal(text))}
}

// BoolExpression returns true or false.
func BoolExpression(b bool) Expression {
	return Expression{hclwrite.TokensForValue(cty.BoolVal(b))}
}

// NumberExpression returns a number that is given in decimal.
func NumberExpression(text string) (Expression, error) {
	if hugeExponent.MatchString(text) || len(text) > maxNumber {
		return Expression{}, fmt.Errorf("the number %.20q is too large", text)
	}
	n, err := cty.ParseNumberVal(text)
	if err != nil {
		return Expression{}, fmt.Errorf("%q is no number", text)
	}
	return Expression{hclwrite.TokensForValue(n)}, nil
}

// maxNumber is the largest length of a number, in bytes.
const maxNumber = 64

// ListExpression returns a list of texts.
func ListExpression(list []string) Expression {
	elements := make([]hclwrite.Tokens, len(list))
	for i, text := range list {
		elements[i] = StringExpression(text).tokens
	}
	return Expression{hclwrite.TokensForTuple(elements)}
}

// MapExpression returns a map of texts, ordered by key.
func MapExpression(m map[string]string) Expression {
	if len(m) == 0 {
		return Expression{hclwrite.TokensForValue(cty.EmptyObjectVal)}
	}
	members := make([]hclwrite.ObjectAttrTokens, 0, len(m))
	for _, key := range sortedKeys(m) {
		members = append(members, hclwrite.ObjectAttrTokens{Name: StringExpression(key).tokens, Value: StringExpression(m[key]).tokens})
	}
	return Expression{hclwrite.TokensForObject(members)}
}

// EnvironmentExpression returns the value of an environment variable: env("NAME").
func EnvironmentExpression(name string) (Expression, error) {
	if !validVariable(name) {
		return Expression{}, fmt.Errorf("%q is no name of an environment variable", name)
	}
	return Expression{hclwrite.TokensForFunctionCall("env", StringExpression(name).tokens)}, nil
}

// SecretFileExpression returns the text of a file, which is kept out of logs: secret_file("path").
func SecretFileExpression(path string) Expression {
	return Expression{hclwrite.TokensForFunctionCall("secret_file", StringExpression(path).tokens)}
}

// referenceTokens returns a reference to an instance: search.docs.
func referenceTokens(kind, name string) hclwrite.Tokens {
	return hclwrite.TokensForTraversal(hcl.Traversal{hcl.TraverseRoot{Name: kind}, hcl.TraverseAttr{Name: name}})
}

// Setting is an attribute of a config block that an edit sets. Path names the blocks around it and then the attribute itself.
type Setting struct {
	Path  []string
	Value Expression
}

// setIn writes the setting into a body.
func (s Setting) setIn(body *hclwrite.Body) {
	blocks, name := s.Path[:len(s.Path)-1], s.Path[len(s.Path)-1]
	for _, inner := range blocks {
		i := slices.IndexFunc(body.Blocks(), func(b *hclwrite.Block) bool { return b.Type() == inner })
		switch {
		case i >= 0:
			body = body.Blocks()[i].Body()
		case s.Value.IsZero():
			return
		default:
			body = body.AppendNewBlock(inner, nil).Body()
		}
	}
	if s.Value.IsZero() {
		body.RemoveAttribute(name)
		return
	}
	body.SetAttributeRaw(name, s.Value.tokens)
}
