package policy

import (
	"path"
	"strings"
)

// Read decides about reading a file, or listing a folder.
func (e *Engine) Read(p PathFacts, c Context) Verdict {
	return e.pathVerdict(p, &c, e.judgeRead(p, &c, false))
}

// Write decides about making, changing, moving or deleting a file. Making one is
// judged like changing it.
func (e *Engine) Write(p PathFacts, c Context) Verdict {
	return e.pathVerdict(p, &c, e.judgeWrite(p, &c, false))
}

func (e *Engine) pathVerdict(p PathFacts, c *Context, f finding) Verdict {
	v := verdict(c, []finding{f})
	v.Parts = []Part{{Text: Visible(c.shown(p)), Decision: v.Decision, Reason: v.Reason}}
	return v
}

// shown is the path as the user should see it: clean, and where it leads.
func (c *Context) shown(p PathFacts) string {
	name, ok := c.locate(p.Path, c.dir())
	if !ok || name == "" {
		name = p.Path
	}
	if real := c.slashes(p.Real); real != "" && path.Clean(real) != name {
		return name + " → " + path.Clean(real)
	}
	return name
}

// places gives the path by name and, when that is another one, where it leads. A
// finding that is not Allow ends the matter.
func (c *Context) places(p PathFacts) (places []string, bad finding) {
	switch {
	case p.Path == "":
		return nil, floor(Deny, "path", "the path is empty")
	case len(p.Path) > maxPath || len(p.Real) > maxPath:
		return nil, floor(Deny, "path", "the path is longer than any path may be")
	case strings.ContainsRune(p.Path, 0) || strings.ContainsRune(p.Real, 0):
		return nil, floor(Deny, "path", "the path holds a NUL byte")
	case p.Failed:
		return nil, floor(Deny, "path", "the path cannot be followed to where it leads")
	}
	name, ok := c.locate(p.Path, c.dir())
	if !ok {
		return nil, floor(Deny, "path", "~ is not known here; write the absolute path")
	}
	places = []string{name}
	if p.Real != "" {
		if real := path.Clean(c.slashes(p.Real)); real != name {
			places = append(places, real)
		}
	}
	for _, place := range places {
		if rule, reason := c.offLimits(place); rule != "" {
			return nil, floor(Deny, rule, Visible(place)+": "+reason)
		}
	}
	if p.Kind == Special && !plainDevice.MatchString(places[len(places)-1]) {
		return nil, floor(Deny, "device", "it is a device, a pipe or a socket, not a file")
	}
	return places, allowed
}

// judgeRead decides about reading; namesOnly says that the text is not read.
func (e *Engine) judgeRead(p PathFacts, c *Context, namesOnly bool) finding {
	places, bad := c.places(p)
	if places == nil {
		return bad
	}
	why := c.foreignRoot(p.Path)
	if c.Windows {
		why = c.foreignName(p.Path)
	}
	if why != "" {
		return floor(Deny, "path", why)
	}
	return e.judgePlaces(KindRead, places, c, func() finding {
		real := places[len(places)-1]
		if plainDevice.MatchString(real) {
			return allowed
		}
		if _, in := c.inside(real); in {
			return allowed
		}
		reason := "it reads outside the workspace: " + Visible(real)
		if len(places) > 1 {
			reason = "it leads out of the workspace, to " + Visible(real)
		}
		return finding{decision: Ask, class: classRead, rule: "outside", reason: reason, lasts: Session, key: []string{c.readKey(real)}, words: "reading " + Visible(real)}
	}, namesOnly)
}

// readKey is the rule that would allow a read outside: for the file itself.
func (c *Context) readKey(file string) string {
	return Rule{Decision: Allow, Kind: KindRead, Pattern: literalPattern(file)}.String()
}

// literalPattern is a pattern that means one path.
func literalPattern(file string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(file)
}

// judgeWrite decides about writing. exactly says that an answer should cover this
// file alone, not the workspace.
func (e *Engine) judgeWrite(p PathFacts, c *Context, exactly bool) finding {
	places, bad := c.places(p)
	if places == nil {
		return bad
	}
	real := places[len(places)-1]
	if plainDevice.MatchString(real) {
		return allowed
	}
	_, in := c.inside(real)
	_, named := c.inside(places[0])
	if !in && named && len(places) > 1 {
		return floor(Deny, "link", "it leads out of the workspace, to "+Visible(real))
	}
	if why := c.foreignName(p.Path); why != "" {
		if c.Windows || p.Kind == Unknown || p.Kind == Missing {
			return floor(Deny, "path", why)
		}
		return once(classFloor, "path", why)
	}
	return e.judgePlaces(KindEdit, places, c, func() finding {
		switch {
		case !in:
			return once(classLater, "outside", "it writes outside the workspace: "+Visible(real))
		case p.Links > 1 && p.Kind != Directory:
			return once(classLater, "hard link", "the file has more than one name, others may lie outside the workspace")
		}
		f := finding{decision: Ask, class: classEdit, rule: "edit", reason: "it changes a file", lasts: Project}
		if exactly {
			f.key = []string{Rule{Decision: Allow, Kind: KindEdit, Pattern: literalPattern(real)}.String()}
			f.words = "writing " + Visible(real)
		} else {
			f.key = []string{Rule{Decision: Allow, Kind: KindEdit, Pattern: "**"}.String()}
			f.words = "edits in this workspace"
		}
		return f
	}, false)
}
