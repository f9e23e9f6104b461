package tool

import (
	"fmt"
	"strings"

	"kimi-acp/internal/policy"
	"kimi-acp/internal/trust"
)

// Permissions is what was granted and refused in a session, for its project and in
// general. It may be used by several goroutines at once.
type Permissions struct{ executor *Executor }

// Permissions gives what was granted in the session of the Executor.
func (e *Executor) Permissions() Permissions { return Permissions{e} }

// permission is one line of the list.
type permission struct {
	text string
	// remove takes it back; what it returns is said to the user when it is not empty.
	remove func() (instead string, err error)
	keep   string // the rules that would keep it for the project; empty: it cannot be
}

const noPermission = "There is no number %d in the list; `/permissions` shows it."

// List shows what was granted, numbered, in Markdown.
func (p Permissions) List() string {
	all, notes := p.all()
	var b strings.Builder
	for i, one := range all {
		fmt.Fprintf(&b, "%d. %s\n", i+1, one.text)
	}
	if len(all) == 0 {
		b.WriteString("Nothing was granted or refused yet.\n")
	}
	b.WriteString("\n" + strings.Join(notes, "\n"))
	return strings.TrimRight(b.String(), "\n")
}

// Remove takes back what has a number of the list, from 1, and says what came of it.
func (p Permissions) Remove(n int) string {
	all, _ := p.all()
	if n < 1 || n > len(all) {
		return fmt.Sprintf(noPermission, n)
	}
	one := all[n-1]
	instead, err := one.remove()
	switch {
	case err != nil:
		return fmt.Sprintf("It could not be taken back: %v.", err)
	case instead != "":
		return instead
	}
	return "Taken back: " + one.text
}

// Keep makes an answer of this session, by its number in the list, last for the
// project, and says what came of it.
func (p Permissions) Keep(n int) string {
	all, _ := p.all()
	if n < 1 || n > len(all) {
		return fmt.Sprintf(noPermission, n)
	}
	one := all[n-1]
	if one.keep == "" {
		return "This cannot be kept for the project: " + one.text
	}
	if err := p.executor.guard.Rules.Project().Add(one.keep); err != nil {
		return fmt.Sprintf("It could not be kept: %v.", err)
	}
	return "Kept for this project: " + code(one.keep)
}

func (p Permissions) all() (all []permission, notes []string) {
	for _, a := range p.executor.approvals.answers() {
		word := "allowed"
		if !a.allowed {
			word = "refused"
		}
		one := permission{
			text:   "In this session, " + word + ": " + a.scope,
			remove: func() (string, error) { p.executor.approvals.forget(a.key); return "", nil },
		}
		if a.allowed && a.lasts >= policy.Project && p.keeps() {
			one.keep = lines(a.rules)
		}
		all = append(all, one)
	}
	guard := p.executor.guard
	if guard == nil {
		return all, nil
	}
	if guard.Rules != nil {
		rules, problem := p.rules()
		all, notes = append(all, rules...), append(notes, problem...)
	}
	if guard.Gate != nil {
		all = append(all, p.trust()...)
		if !guard.Gate.Trusted() {
			notes = append(notes, "This workspace is not trusted: commands that could run its code are asked for, and rules that allow commands wait.")
		}
	}
	if len(all) > 0 {
		note := "Take one back with `/permissions remove N`."
		for _, one := range all {
			if one.keep != "" {
				note = "Take one back with `/permissions remove N`, keep an answer of this session for the project with `/permissions keep N`."
				break
			}
		}
		notes = append(notes, note)
	}
	return all, notes
}

// keeps tells whether there is a place for rules of the project.
func (p Permissions) keeps() bool {
	g := p.executor.guard
	return g != nil && g.Rules != nil && g.Rules.Project() != nil
}

func (p Permissions) rules() (all []permission, problems []string) {
	rules := p.executor.guard.Rules
	project, err := rules.Project().Rules()
	if err != nil {
		problems = append(problems, "The rules of the project cannot be read, so everything is asked for: "+policy.Visible(err.Error())+".")
	}
	for _, r := range project {
		all = append(all, permission{
			text: "In this project: " + code(r.String()),
			remove: func() (string, error) {
				_, err := rules.Project().Remove(r.String())
				return "", err
			},
		})
	}
	user := rules.User()
	for _, r := range user.Rules {
		all = append(all, permission{
			text: "Everywhere: " + code(r.String()) + " (settings)",
			remove: func() (string, error) {
				return "This rule is in your settings: take it out of `[policy]` in `acp.toml`, which counts at once.", nil
			},
		})
	}
	if user.Broken != "" {
		problems = append(problems, "A rule of the settings cannot be read, so everything is asked for: "+policy.Visible(user.Broken))
	}
	return all, problems
}

func (p Permissions) trust() (all []permission) {
	gate := p.executor.guard.Gate
	for _, e := range gate.Decided() {
		word := "Trusted to run its own code"
		if e.Trust == trust.Never {
			word = "Not trusted, and not asked for"
		}
		all = append(all, permission{
			text:   word + ": " + code(e.Path),
			remove: func() (string, error) { return "", gate.Forget(e.Path) },
		})
	}
	return all
}

func lines(rules []policy.Rule) string {
	all := make([]string, len(rules))
	for i, r := range rules {
		all[i] = r.String()
	}
	return strings.Join(all, "\n")
}

// code shows lines as Markdown code.
func code(lines string) string {
	shown := strings.Split(lines, "\n")
	for i, line := range shown {
		line = policy.Visible(line)
		fence := "`"
		for strings.Contains(line, fence) {
			fence += "`"
		}
		if fence != "`" {
			line = " " + line + " "
		}
		shown[i] = fence + line + fence
	}
	return strings.Join(shown, ", ")
}
