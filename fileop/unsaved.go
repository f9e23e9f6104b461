package fileop

// Unsaved knows the texts that an editor holds and has not saved, where it does not
// give files itself. It may be called by several goroutines at once and answers
// within milliseconds.
type Unsaved interface {
	// Files gives the absolute paths of the files with unsaved changes.
	Files() []string
	// Text gives the text of such a file as the editor holds it, nil where it is not
	// told. dirty is false for every other file.
	Text(path string) (text *string, dirty bool)
}

// layUnsaved lays over a file what is known of the user's unsaved changes to it.
func (o *Operator) layUnsaved(p place, v view) (view, error) {
	if o.unsaved == nil {
		return v, nil
	}
	text, dirty := o.unsaved.Text(p.name)
	if !dirty && p.real != p.name {
		text, dirty = o.unsaved.Text(p.real)
	}
	switch {
	case !dirty:
		return v, nil
	case text == nil:
		v.dirty = true // what is on disk is all that can be shown, and not to be changed
		return v, nil
	case *text == "" && v.disk == nil: // an editor opens what is missing as empty
		return v, nil
	}
	inEditor, err := Decode([]byte(*text))
	if err != nil {
		return view{}, unreadableBuffer(p, err)
	}
	if v.disk != nil && !v.alien && sameText(inEditor.Body, v.text.Body) {
		return v, nil // it was saved since
	}
	v.buffer, v.dirty, v.text = []byte(*text), true, inEditor.inStyleOf(v.text)
	return v, nil
}

// knownUnsaved are the files with unsaved changes, as a Walk names them.
func (o *Operator) knownUnsaved() []KnownFile {
	if o.unsaved == nil {
		return nil
	}
	var all []KnownFile
	for _, path := range o.unsaved.Files() {
		if p, err := o.folders.locate(path); err == nil {
			all = append(all, o.knownAs(p))
		}
	}
	return all
}
