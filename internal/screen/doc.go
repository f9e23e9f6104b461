// Package screen lays text out for a person at a terminal: headings, lines cut to
// the width, wrapped paragraphs, text that is wrapped while it streams, diffs.
//
// It must not know what is shown, and it decides nothing but the look: colour and
// width are given to it. What a text says is the same with and without colour.
package screen
