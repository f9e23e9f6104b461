// Package doctest holds those parts of the pages in docs that are made from the
// program, and fails when program and page differ. With -update it writes them.
//
// It must not be imported, and it must not say what only a person can know: that
// stands in the pages around the made parts, or in the tables of words here.
package doctest
