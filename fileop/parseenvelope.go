package fileop

import "strings"

// The lines with which the first form of a patch names what it does.
const (
	markBegin  = "*** Begin Patch"
	markEnd    = "*** End Patch"
	markAdd    = "*** Add File: "
	markUpdate = "*** Update File: "
	markDelete = "*** Delete File: "
	markMove   = "*** Move to: "
	markEOF    = "*** End of File"
)

// envelope reads the form that names files by lines of asterisks.
func (p *patchParser) envelope() error {
	for {
		l, ok := p.next()
		if !ok {
			return nil
		}
		l = strings.TrimRight(l, " \t")
		p.at++
		path := func(mark string) (string, bool) {
			path, is := strings.CutPrefix(l, mark)
			return strings.TrimSpace(path), is
		}
		var err error
		switch name, is := path(markAdd); {
		case is:
			err = p.addFile(name)
		case l == "" || l == markBegin:
		case l == markEnd:
			return nil
		default:
			if name, is = path(markDelete); is {
				err = p.add(Edit{Path: name, Delete: true})
			} else if name, is = path(markUpdate); is {
				err = p.updateFile(name)
			} else {
				p.at--
				err = p.bad("%q is no line that names a file", clipText(l, 80))
			}
		}
		if err != nil {
			return err
		}
	}
}

// addFile reads a new file, each line of which is marked as added.
func (p *patchParser) addFile(path string) error {
	var b strings.Builder
	for {
		l, ok := p.next()
		if !ok || strings.HasPrefix(l, "*** ") || l == "" && p.onlyBlank() {
			break
		}
		text, marked := strings.CutPrefix(l, "+")
		if !marked {
			return p.bad("every line of a new file begins with +")
		}
		b.WriteString(text + "\n")
		p.at++
	}
	content := b.String()
	return p.add(Edit{Path: path, Content: &content, New: true})
}

// onlyBlank tells whether nothing but blank lines comes before the next mark.
func (p *patchParser) onlyBlank() bool {
	for _, l := range p.lines[p.at:] {
		if l != "" {
			return strings.HasPrefix(l, "*** ")
		}
	}
	return true
}

// updateFile reads the parts of a file that changes, moves, or does both.
func (p *patchParser) updateFile(path string) error {
	e := Edit{Path: path}
	if l, ok := p.next(); ok && strings.HasPrefix(l, markMove) {
		e.MoveTo = strings.TrimSpace(l[len(markMove):])
		p.at++
	}
	for {
		l, ok := p.next()
		if !ok || strings.HasPrefix(l, "*** ") {
			break
		}
		if l == "" && p.onlyBlank() {
			p.at++
			continue
		}
		var part Passage
		for ; strings.HasPrefix(l, "@@"); l, _ = p.next() {
			if above := strings.TrimSpace(l[2:]); above != "" {
				p.headOf(&part, l)
			}
			p.at++
		}
		if err := p.hunk(&part, func(l string) bool { return strings.HasPrefix(l, "@@") || strings.HasPrefix(l, "*** ") }); err != nil {
			return err
		}
		if l, ok := p.next(); ok && strings.TrimRight(l, " \t") == markEOF {
			part.End = true
			p.at++
		}
		if len(part.Old) == 0 && len(part.New) == 0 {
			return p.bad("a part without lines")
		}
		e.Patch = append(e.Patch, part)
	}
	if len(e.Patch) == 0 && e.MoveTo == "" {
		return p.bad("nothing is changed in %s", path)
	}
	return p.add(e)
}

// headOf takes what stands behind @@: the head of a unified diff, or a line above.
func (p *patchParser) headOf(part *Passage, l string) {
	if line, heading, ok := unifiedHead(l); ok {
		part.Line, part.Hint = line, heading
		return
	}
	part.After = append(part.After, strings.TrimSuffix(strings.TrimSpace(l[2:]), " @@"))
}
