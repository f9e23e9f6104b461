package wire

import (
	"encoding/json"

	"kimi-acp/soul/llm"
)

// Message is anything that travels on a Wire: an Event or a Request.
type Message interface {
	// WireType is the name in the envelope's "type", e.g. "TurnBegin"; "" for a
	// message that stays in this process (see Local).
	WireType() string
}

// Event is a message that wants no answer.
type Event interface {
	Message
	event()
}

// Request is a message that waits for an answer.
type Request interface {
	Message
	// RequestID is the id that the answer names.
	RequestID() string
}

// UserInput is what a user said: a plain string, or parts. Exactly one is set;
// the zero value is the empty string.
type UserInput struct {
	Text  string
	Parts []llm.Part // nil: Text counts
}

// The events of Wire 1.10.
type (
	// TurnBegin opens a turn.
	TurnBegin struct {
		UserInput UserInput `json:"user_input"`
	}
	// SteerInput is user input that was put into a running turn.
	SteerInput struct {
		UserInput UserInput `json:"user_input"`
	}
	// TurnEnd closes a turn, also a failed or cancelled one.
	TurnEnd struct{}
	// StepBegin opens step N (from 1) of a turn.
	StepBegin struct {
		N int `json:"n"`
	}
	// StepInterrupted says that a step failed.
	StepInterrupted struct{}
	// StepRetry says that a model call failed and will be tried again; what the
	// failed attempt streamed is void.
	StepRetry struct {
		N           int     `json:"n"`
		NextAttempt int     `json:"next_attempt"`
		MaxAttempts int     `json:"max_attempts"`
		WaitS       float64 `json:"wait_s"`
		ErrorType   string  `json:"error_type"`
		StatusCode  *int    `json:"status_code"`
	}
	// CompactionBegin opens a compaction of the history.
	CompactionBegin struct{}
	// CompactionEnd closes a compaction.
	CompactionEnd struct{}
	// MCPLoadingBegin says that the turn waits for MCP servers.
	MCPLoadingBegin struct{}
	// MCPLoadingEnd says that MCP servers are ready.
	MCPLoadingEnd struct{}
	// HookTriggered says that hooks run.
	HookTriggered struct {
		Event     string `json:"event"`
		Target    string `json:"target"`
		HookCount int    `json:"hook_count"`
	}
	// HookResolved says what the hooks decided.
	HookResolved struct {
		Event      string `json:"event"`
		Target     string `json:"target"`
		Action     string `json:"action"` // allow | block
		Reason     string `json:"reason"`
		DurationMS int    `json:"duration_ms"`
	}
	// StatusUpdate carries what changed in the soul's status; nil: no change.
	StatusUpdate struct {
		ContextUsage     *float64   `json:"context_usage"` // 0..1
		ContextTokens    *int       `json:"context_tokens"`
		MaxContextTokens *int       `json:"max_context_tokens"`
		TokenUsage       *llm.Usage `json:"token_usage"`
		MessageID        *string    `json:"message_id"`
		PlanMode         *bool      `json:"plan_mode"`
		MCPStatus        *MCPStatus `json:"mcp_status"`
	}
	// Notification tells of something outside the turn, such as a finished task.
	Notification struct {
		ID         string          `json:"id"`
		Category   string          `json:"category"` // task | agent | system
		Type       string          `json:"type"`
		SourceKind string          `json:"source_kind"`
		SourceID   string          `json:"source_id"`
		Title      string          `json:"title"`
		Body       string          `json:"body"`
		Severity   string          `json:"severity"` // info | success | warning | error
		CreatedAt  float64         `json:"created_at"`
		Payload    json.RawMessage `json:"payload"` // object
	}
	// ContentPart is a piece of the model's answer.
	ContentPart struct {
		Part llm.Part
	}
	// ToolCall is a tool call of the model, perhaps with arguments still to come.
	ToolCall struct {
		Call llm.ToolCall
	}
	// ToolCallPart continues the arguments of the latest ToolCall.
	ToolCallPart struct {
		ArgumentsPart *string `json:"arguments_part"`
	}
	// ToolResult is what a tool call came to.
	ToolResult struct {
		ToolCallID  string          `json:"tool_call_id"`
		ReturnValue ToolReturnValue `json:"return_value"`
	}
	// ApprovalResponse is the answer to an ApprovalRequest, for those who watch.
	ApprovalResponse struct {
		RequestID string   `json:"request_id"`
		Response  Approval `json:"response"`
		Feedback  string   `json:"feedback"`
	}
	// SubagentEvent wraps an event of a sub-agent.
	SubagentEvent struct {
		ParentToolCallID *string `json:"parent_tool_call_id"`
		AgentID          *string `json:"agent_id"`
		SubagentType     *string `json:"subagent_type"`
		Event            Event   `json:"event"`
	}
	// PlanDisplay shows a plan for review.
	PlanDisplay struct {
		Content  string `json:"content"`
		FilePath string `json:"file_path"`
	}
	// BtwBegin opens a side question.
	BtwBegin struct {
		ID       string `json:"id"`
		Question string `json:"question"`
	}
	// BtwEnd closes a side question.
	BtwEnd struct {
		ID       string  `json:"id"`
		Response *string `json:"response"`
		Error    *string `json:"error"`
	}
)

// MCPStatus tells how the MCP servers fare.
type MCPStatus struct {
	Loading   bool              `json:"loading"`
	Connected int               `json:"connected"`
	Total     int               `json:"total"`
	Tools     int               `json:"tools"`
	Servers   []MCPServerStatus `json:"servers"`
}

// MCPServerStatus tells how one MCP server fares.
type MCPServerStatus struct {
	Name   string   `json:"name"`
	Status string   `json:"status"` // pending | connecting | connected | failed | unauthorized
	Tools  []string `json:"tools"`
}

// ToolReturnValue is the outcome of a tool call.
type ToolReturnValue struct {
	IsError bool
	Output  Output  // for the model
	Message string  // for the model, one sentence; not empty when IsError
	Display []Block // for people
	Extras  json.RawMessage

	// Files are the changes made, as whole texts. They stay in this process.
	Files []FileChange
	// Todo is the plan behind a BlockTodo in Display, nil when there is none. It
	// stays in this process.
	Todo []PlanItem
	// Rejected says that the user turned the call down and did not say what to do
	// instead. It stays in this process.
	Rejected bool
}

// PlanItem is an entry of the to-do list with what TodoItem has no place for.
type PlanItem struct {
	ID        string // unique in the list, never empty
	Title     string
	Status    string   // pending | in_progress | done
	Priority  string   // high | medium | low
	DependsOn []string // ids of entries of the list that must be done first
}

// Output is a tool's output: text, or parts. Exactly one is set; the zero value
// is the empty text.
type Output struct {
	Text  string
	Parts []llm.Part // nil: Text counts
}

// FileChange is a change of one file, as an editor shows it.
type FileChange struct {
	Path string  // absolute
	Old  *string // nil: the file is new
	New  string
	Line int // 1-based line of the first change, 0: unknown

	Deleted bool // the file is gone, and New is empty
}

// BlockType is the discriminator of a Block.
type BlockType string

// The display blocks of Wire 1.10. Any other type is kept as it came.
const (
	BlockBrief          BlockType = "brief"
	BlockDiff           BlockType = "diff"
	BlockTodo           BlockType = "todo"
	BlockShell          BlockType = "shell"
	BlockBackgroundTask BlockType = "background_task"
)

// Block is something that a person sees beside a tool call. Type says which of
// the pointers is set; all are nil for an unknown type, whose members stand in Raw.
type Block struct {
	Type           BlockType
	Brief          *BriefBlock
	Diff           *DiffBlock
	Todo           *TodoBlock
	Shell          *ShellBlock
	BackgroundTask *BackgroundTaskBlock
	Raw            json.RawMessage // unknown types: the block's "data"
}

type (
	// BriefBlock is a short sentence.
	BriefBlock struct {
		Text string `json:"text"`
	}
	// DiffBlock is one hunk, or the summary of a change too large to show.
	DiffBlock struct {
		Path      string `json:"path"`
		OldText   string `json:"old_text"`
		NewText   string `json:"new_text"`
		OldStart  int    `json:"old_start"` // 1-based line
		NewStart  int    `json:"new_start"` // 1-based line
		IsSummary bool   `json:"is_summary"`
	}
	// TodoBlock is the whole to-do list.
	TodoBlock struct {
		Items []TodoItem `json:"items"`
	}
	// TodoItem is one entry of the to-do list.
	TodoItem struct {
		Title  string `json:"title"`
		Status string `json:"status"` // pending | in_progress | done
	}
	// ShellBlock is a command.
	ShellBlock struct {
		Language string `json:"language"`
		Command  string `json:"command"`
	}
	// BackgroundTaskBlock is a task that runs on.
	BackgroundTaskBlock struct {
		TaskID      string `json:"task_id"`
		Kind        string `json:"kind"`
		Status      string `json:"status"`
		Description string `json:"description"`
	}
)

// Approval is an answer to an ApprovalRequest.
type Approval string

// The answers to an ApprovalRequest. Anything else counts as ApprovalReject.
const (
	ApprovalApprove           Approval = "approve"
	ApprovalApproveForSession Approval = "approve_for_session"
	ApprovalReject            Approval = "reject"
)

// The requests of Wire 1.10.
type (
	// ApprovalRequest asks the user to approve an action.
	ApprovalRequest struct {
		ID                string  `json:"id"`
		ToolCallID        string  `json:"tool_call_id"`
		Sender            string  `json:"sender"` // tool name
		Action            string  `json:"action"` // the kind that "for session" covers
		Description       string  `json:"description"`
		SourceKind        *string `json:"source_kind"` // foreground_turn | background_agent
		SourceID          *string `json:"source_id"`
		AgentID           *string `json:"agent_id"`
		SubagentType      *string `json:"subagent_type"`
		SourceDescription *string `json:"source_description"`
		Display           []Block `json:"display"`

		// Files are the changes asked for, as whole texts. They stay in this process.
		Files []FileChange `json:"-"`
		// Scope says in words what ApprovalApproveForSession will cover, e.g.
		// "edits in this workspace"; empty: no lasting answer may be offered. It
		// stays in this process.
		Scope string `json:"-"`
	}
	// ToolCallRequest asks for a tool to be run on the other side of the Wire.
	ToolCallRequest struct {
		ID        string  `json:"id"`
		Name      string  `json:"name"`
		Arguments *string `json:"arguments"`
	}
	// QuestionRequest asks the user.
	QuestionRequest struct {
		ID         string     `json:"id"`
		ToolCallID string     `json:"tool_call_id"`
		Questions  []Question `json:"questions"`
	}
	// HookRequest asks a Wire client that subscribed to a hook.
	HookRequest struct {
		ID             string          `json:"id"`
		SubscriptionID string          `json:"subscription_id"`
		Event          string          `json:"event"`
		Target         string          `json:"target"`
		InputData      json.RawMessage `json:"input_data"` // object
	}
)

// Question is one question of a QuestionRequest.
type Question struct {
	Question         string           `json:"question"`
	Header           string           `json:"header"`
	Options          []QuestionOption `json:"options"`
	MultiSelect      bool             `json:"multi_select"`
	Body             string           `json:"body"`
	OtherLabel       string           `json:"other_label"`
	OtherDescription string           `json:"other_description"`
}

// QuestionOption is one answer offered.
type QuestionOption struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

// QuestionAnswers maps each question's text to the label chosen (several joined
// by ", "). Empty: the user dismissed the questions.
type QuestionAnswers map[string]string

// HookDecision is the answer to a HookRequest.
type HookDecision struct {
	Action string `json:"action"` // allow | block
	Reason string `json:"reason"`
}

// ToolProgress tells how a tool call that runs in this process fares. It is
// Local: neither recorded nor sent to Wire clients.
type ToolProgress struct {
	ToolCallID string
	Name       string          // the tool
	Input      json.RawMessage // the arguments, valid JSON
	Running    bool            // false: accepted and waiting (for approval); true: runs
	Output     string          // what a command printed so far, head and tail; "": nothing
	Files      []FileChange    // planned or made
}

// WireType is "": ToolProgress is local.
func (ToolProgress) WireType() string { return "" }
func (ToolProgress) event()           {}

// Local reports whether m stays in this process: recorders, Wire servers and
// merged streams must skip it.
func Local(m Message) bool { return m.WireType() == "" }
