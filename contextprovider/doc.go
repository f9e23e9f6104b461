// Package contextprovider knows what a user refers to and looks at: the mentions that
// editors put into prompts, and the facts of the moment (editor, files, diagnostics,
// git), which providers gather side by side and which it words for a model within a
// budget.
//
// It must not know how a model is asked or which protocol an editor speaks, and
// it must not open what a mention names: a mention is a typed reference, and
// whoever wants the text asks fileop for it.
package contextprovider
