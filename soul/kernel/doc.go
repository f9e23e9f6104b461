// Package kernel is the soul that runs in another program behind the Wire: kimi-cli,
// the Rust kernel, this program itself, or anything else that speaks it. It finds and
// starts the program, shakes hands, forwards what the program tells, has its tool
// calls, approvals and questions served on the Wire of this process, and falls back to
// the built-in soul where that is allowed.
//
// It must not know who watches the Wire, how a tool is run or an approval decided, and
// it never touches the program's session files.
package kernel
