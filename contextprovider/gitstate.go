package contextprovider

// GitState is how a repository stands.
type GitState struct {
	Root      string // absolute: the top folder of the work tree
	Untrusted bool   // nothing was run: only what HEAD says is known

	Branch    string // "" when HEAD is detached
	Commit    string // short name of the commit that is checked out, "" when there is none
	NoCommits bool   // nothing was committed yet
	Upstream  string // such as "origin/main", "" when there is none
	Gone      bool   // the upstream is set but does not exist
	Ahead     int    // commits that the upstream lacks
	Behind    int    // commits that only the upstream has
	Linked    bool   // a worktree beside the main one
	Submodule bool   // the repository is a part of another one
	Sparse    bool   // not all files are checked out
	Stashes   int

	Operation string // such as "rebase", "" when none is in progress
	Step      string // how far it is, such as "2/5"

	Changes     []GitChange // in the order of git's status
	MoreChanges int         // changes that are not listed
	Diffs       []GitDiff   // of the active file
	Commits     []GitCommit // the latest first
}

// GitChange is a file that differs from the last commit.
type GitChange struct {
	Path      string // absolute
	From      string // absolute: what it was renamed or copied from, "" otherwise
	Staged    byte   // what the index says, a letter of git's: M T A D R C U, or 0
	Unstaged  byte   // what the work tree says, likewise; '?' for an untracked file
	Conflict  bool
	Mode      bool // its mode changed
	Submodule bool
	Folder    bool // all that is in it is untracked
	// Added and Removed count the lines in which the file differs from the last
	// commit; -1: unknown or not text.
	Added, Removed int
}

// GitDiff is how a file differs from the last commit.
type GitDiff struct {
	Path string // absolute
	Text string // a unified diff without its header
	More bool   // the rest is left out
}

// GitCommit is an entry of the log.
type GitCommit struct{ Hash, Subject string }
