package tool

// Builtin makes the built-in tools, in the order in which a model gets them.
func Builtin() []Tool {
	return []Tool{
		newSetTodoList(),
		newShell(),
		newReadFile(),
		newWriteFile(),
		newStrReplaceFile(),
	}
}
