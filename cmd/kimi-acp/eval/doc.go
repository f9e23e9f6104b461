// Package eval has a model do small tasks, each in a scratch folder, and checks what
// came of them: files to the byte, the answer, the commands that were run.
//
// It must not know which model that is or how it is reached: it is handed what makes
// a provider for a task. A task also holds a script, the answers of a model that does
// it right, so that all but the model can be tried without one.
package eval
