// Package contextprovider knows what a user refers to and looks at: the session's
// context, and the mentions that editors put into prompts.
//
// It must not know how a model is asked or which protocol an editor speaks, and
// it must not open what a mention names: a mention is a typed reference, and
// whoever wants the text asks fileop for it.
package contextprovider
