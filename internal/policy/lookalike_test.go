package policy

import (
	"slices"
	"strings"
	"testing"
)

func TestLookalikes(t *testing.T) {
	for text, want := range map[string]string{
		"git push origin main":         "",
		"curl https://раypal.com/x":    `\u0440\u0430ypal`,
		"echo привет мир, γειά, naïve": "",
		"cat Αpple.txt":                `\u0391pple`,
		"ｌｓ":                           `\uff4c\uff53`,
		"𝐫𝐦 x":                         `\U0001d42b\U0001d426`,
		"ls ./отчет.txt && cat оtchet": `\u043etchet`,
		"сd сd":                        `\u0441d`,
		"аa bа cа dа eа fа gа":         `\u0430a b\u0430 c\u0430 d\u0430 e\u0430`,
		"日本語 と カタカナ, 中文abc":            "",
	} {
		var got []string
		for _, w := range Lookalikes(text) {
			got = append(got, Escaped(w))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestLegible(t *testing.T) {
	for text, want := range map[string]string{
		"ls\n\ttab":  "ls\n\\ttab",
		"a\n\n\nb\n": "a\n\n\nb\n",
		"a" + strings.Repeat("\n", 300) + "rm -rf x": "a\n⟨299 empty lines⟩\nrm -rf x",
		"a" + strings.Repeat(" \n", 300) + "rm":      "a \n⟨299 empty lines⟩\nrm",
		"ls" + strings.Repeat(" ", 5000) + "; rm":    "ls ⟨5000 blanks⟩ ; rm",
		"if x\n            deep":                     "if x\n            deep",
		"a\rb":                                       `a\x0db`,
		"a\r\n\u202eb":                               "a\\x0d\n\\u202eb",
		"x\u200by":                                   `x\u200by`,
	} {
		if got := Legible(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if slices.Contains([]string{Legible("\n\r\n")}, "") {
		t.Error("a line that is not empty is taken for one")
	}
}
