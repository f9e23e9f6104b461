package state

import "slices"

// Merge makes one state of those of several companions, since some editors start one
// for each language. The active document, the editor and the rest of what is told
// once are those of the first that has an active document; documents and diagnostics
// that several have are those that were told last. Without states it gives false.
func Merge(states []State) (State, bool) {
	if len(states) == 0 {
		return State{}, false
	}
	merged := states[0]
	for _, s := range states {
		if s.Active != nil {
			merged = s
			break
		}
	}
	if len(states) == 1 {
		return merged, true
	}
	var (
		documents   []Document
		diagnostics []FileDiagnostics
	)
	merged.LeftOut = LeftOut{}
	for _, s := range states {
		for _, d := range s.Documents {
			i := slices.IndexFunc(documents, func(o Document) bool { return o.Path == d.Path })
			if i < 0 {
				documents = append(documents, d)
			} else if d.Used.After(documents[i].Used) {
				documents[i] = d
			}
		}
		for _, d := range s.Diagnostics {
			i := slices.IndexFunc(diagnostics, func(o FileDiagnostics) bool { return o.Path == d.Path })
			if i < 0 {
				diagnostics = append(diagnostics, d)
			} else if d.At.After(diagnostics[i].At) {
				diagnostics[i] = d
			}
		}
		merged.LeftOut.Documents += s.LeftOut.Documents
		merged.LeftOut.Diagnostics += s.LeftOut.Diagnostics
	}
	merged.Documents, merged.Diagnostics = documents, diagnostics
	merged.bound()
	return merged, true
}
