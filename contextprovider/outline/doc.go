// Package outline finds what the text of a program defines, without a language server:
// Go by its parser, other languages by patterns of their lines. What it says of the
// latter is a guess.
//
// It must not know where a text comes from or who asks, and it opens no file.
package outline
