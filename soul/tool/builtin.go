package tool

// Builtin makes the built-in tools, in the order in which a model gets them.
func Builtin() []Tool {
	return []Tool{
		newReadFile(),
		newReadMediaFile(),
		newGlob(),
		newGrep(),
		newWriteFile(),
		newStrReplaceFile(),
		newApplyPatch(),
		newShell(),
		newTaskList(),
		newTaskOutput(),
		newTaskStop(),
		newWaitFor(),
		newSetTodoList(),
		newThink(),
		newAskUserQuestion(),
	}
}
