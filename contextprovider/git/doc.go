// Package git tells how the repositories of a session stand: branch, upstream,
// operation in progress, changes, diff of the active file, last commits.
//
// It asks the git binary, in an environment in which a repository's own settings run
// nothing, and only where the workspace is trusted; elsewhere it reads HEAD and no
// more. It must not change anything in a repository, not even the index, and must not
// know how what it finds is worded or shown.
package git
