package wire

// The names of the messages, as they stand in an envelope's "type".

// WireType is "TurnBegin".
func (TurnBegin) WireType() string { return "TurnBegin" }
func (TurnBegin) event()           {}

// WireType is "SteerInput".
func (SteerInput) WireType() string { return "SteerInput" }
func (SteerInput) event()           {}

// WireType is "TurnEnd".
func (TurnEnd) WireType() string { return "TurnEnd" }
func (TurnEnd) event()           {}

// WireType is "StepBegin".
func (StepBegin) WireType() string { return "StepBegin" }
func (StepBegin) event()           {}

// WireType is "StepInterrupted".
func (StepInterrupted) WireType() string { return "StepInterrupted" }
func (StepInterrupted) event()           {}

// WireType is "StepRetry".
func (StepRetry) WireType() string { return "StepRetry" }
func (StepRetry) event()           {}

// WireType is "CompactionBegin".
func (CompactionBegin) WireType() string { return "CompactionBegin" }
func (CompactionBegin) event()           {}

// WireType is "CompactionEnd".
func (CompactionEnd) WireType() string { return "CompactionEnd" }
func (CompactionEnd) event()           {}

// WireType is "MCPLoadingBegin".
func (MCPLoadingBegin) WireType() string { return "MCPLoadingBegin" }
func (MCPLoadingBegin) event()           {}

// WireType is "MCPLoadingEnd".
func (MCPLoadingEnd) WireType() string { return "MCPLoadingEnd" }
func (MCPLoadingEnd) event()           {}

// WireType is "HookTriggered".
func (HookTriggered) WireType() string { return "HookTriggered" }
func (HookTriggered) event()           {}

// WireType is "HookResolved".
func (HookResolved) WireType() string { return "HookResolved" }
func (HookResolved) event()           {}

// WireType is "StatusUpdate".
func (StatusUpdate) WireType() string { return "StatusUpdate" }
func (StatusUpdate) event()           {}

// WireType is "Notification".
func (Notification) WireType() string { return "Notification" }
func (Notification) event()           {}

// WireType is "ContentPart", whatever the part.
func (ContentPart) WireType() string { return "ContentPart" }
func (ContentPart) event()           {}

// WireType is "ToolCall".
func (ToolCall) WireType() string { return "ToolCall" }
func (ToolCall) event()           {}

// WireType is "ToolCallPart".
func (ToolCallPart) WireType() string { return "ToolCallPart" }
func (ToolCallPart) event()           {}

// WireType is "ToolResult".
func (ToolResult) WireType() string { return "ToolResult" }
func (ToolResult) event()           {}

// WireType is "ApprovalResponse".
func (ApprovalResponse) WireType() string { return "ApprovalResponse" }
func (ApprovalResponse) event()           {}

// WireType is "SubagentEvent".
func (SubagentEvent) WireType() string { return typeSubagentEvent }
func (SubagentEvent) event()           {}

// WireType is "PlanDisplay".
func (PlanDisplay) WireType() string { return "PlanDisplay" }
func (PlanDisplay) event()           {}

// WireType is "BtwBegin".
func (BtwBegin) WireType() string { return "BtwBegin" }
func (BtwBegin) event()           {}

// WireType is "BtwEnd".
func (BtwEnd) WireType() string { return "BtwEnd" }
func (BtwEnd) event()           {}

// WireType is "ApprovalRequest".
func (ApprovalRequest) WireType() string { return "ApprovalRequest" }

// RequestID is the request's ID.
func (r ApprovalRequest) RequestID() string { return r.ID }

// WireType is "ToolCallRequest".
func (ToolCallRequest) WireType() string { return "ToolCallRequest" }

// RequestID is the request's ID, which is the model's id of the call.
func (r ToolCallRequest) RequestID() string { return r.ID }

// WireType is "QuestionRequest".
func (QuestionRequest) WireType() string { return "QuestionRequest" }

// RequestID is the request's ID.
func (r QuestionRequest) RequestID() string { return r.ID }

// WireType is "HookRequest".
func (HookRequest) WireType() string { return "HookRequest" }

// RequestID is the request's ID.
func (r HookRequest) RequestID() string { return r.ID }
