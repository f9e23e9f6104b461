// Package lsp asks language servers about the files of a session: problems,
// definitions, references, symbols, renames. It starts the servers when there is
// something to ask, in trusted workspaces alone, tells them the texts that the user
// sees, and ends them when nobody asks any more, when the session ends, and when they
// fail too often. Where none can be asked, it reads the texts by itself.
//
// Above it nothing is known but contextprovider.Code, the providers of facts, and what
// an edit has broken (Servers.NewProblems). The package must not know tools, models or
// sessions, and it writes no file: a rename is worked out and given back.
package lsp
