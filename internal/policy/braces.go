package policy

import (
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// expandBraces gives the words that parts with braces become, nil when they are
// more than limit, or a sequence is not of small numbers.
func expandBraces(parts []syntax.WordPart, limit int) []*syntax.Word {
	words := [][]syntax.WordPart{nil}
	for _, part := range parts {
		brace, ok := part.(*syntax.BraceExp)
		if !ok {
			for i := range words {
				words[i] = append(words[i], part)
			}
			continue
		}
		var choices [][]syntax.WordPart
		if brace.Sequence {
			choices = sequence(brace, limit)
		} else {
			for _, elem := range brace.Elems {
				for _, w := range expandBraces(elem.Parts, limit) {
					choices = append(choices, w.Parts)
				}
				if len(choices) > limit {
					return nil
				}
			}
		}
		if choices == nil || len(words)*len(choices) > limit {
			return nil
		}
		var longer [][]syntax.WordPart
		for _, w := range words {
			for _, choice := range choices {
				longer = append(longer, slices.Concat(w, choice))
			}
		}
		words = longer
	}
	all := make([]*syntax.Word, 0, len(words))
	for _, w := range words {
		if len(w) == 0 {
			w = []syntax.WordPart{&syntax.Lit{}}
		}
		all = append(all, &syntax.Word{Parts: w})
	}
	return all
}

// sequence gives {1..5} as words, nil for everything that is not such.
func sequence(brace *syntax.BraceExp, limit int) [][]syntax.WordPart {
	if len(brace.Elems) != 2 {
		return nil
	}
	from, err1 := strconv.Atoi(brace.Elems[0].Lit())
	to, err2 := strconv.Atoi(brace.Elems[1].Lit())
	if err1 != nil || err2 != nil || to < from || to-from >= limit || from < 0 {
		return nil
	}
	var all [][]syntax.WordPart
	for n := from; n <= to; n++ {
		all = append(all, []syntax.WordPart{&syntax.Lit{Value: strconv.Itoa(n)}})
	}
	return all
}
