package wireserver

import (
	"encoding/json"
	"errors"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul/wire"
)

// approvalAnswer reads an answer to an approval. What is not understood is a rejection.
func approvalAnswer(result json.RawMessage, err error) (wire.Approval, string) {
	var a struct {
		RequestID *string        `json:"request_id"`
		Response  *wire.Approval `json:"response"`
		Feedback  string         `json:"feedback"`
	}
	if err != nil || json.Unmarshal(result, &a) != nil || a.RequestID == nil || a.Response == nil {
		return wire.ApprovalReject, ""
	}
	switch *a.Response {
	case wire.ApprovalApprove, wire.ApprovalApproveForSession, wire.ApprovalReject:
		return *a.Response, a.Feedback
	}
	return wire.ApprovalReject, ""
}

// questionAnswers reads answers; what is not understood dismisses the questions.
func questionAnswers(result json.RawMessage, err error) wire.QuestionAnswers {
	var a struct {
		RequestID *string              `json:"request_id"`
		Answers   wire.QuestionAnswers `json:"answers"`
	}
	if err != nil || json.Unmarshal(result, &a) != nil || a.RequestID == nil {
		return nil
	}
	return a.Answers
}

// toolAnswer reads the result of a tool that the client ran. There always is one.
func toolAnswer(result json.RawMessage, err error) wire.ToolReturnValue {
	var rpc *jsonrpc.Error
	switch {
	case errors.As(err, &rpc):
		return wire.FailedTool(rpc.Message, "External tool error")
	case errors.Is(err, jsonrpc.ErrClosed):
		return wire.FailedTool("Wire connection closed before tool result was received.", "Wire closed")
	}
	var a struct {
		ToolCallID  *string               `json:"tool_call_id"`
		ReturnValue *wire.ToolReturnValue `json:"return_value"`
	}
	if err != nil || json.Unmarshal(result, &a) != nil || a.ToolCallID == nil || a.ReturnValue == nil {
		return wire.FailedTool("Invalid tool result payload from client.", "Invalid tool result")
	}
	if v := *a.ReturnValue; !v.IsError || v.Message != "" {
		return v
	}
	a.ReturnValue.Message = "The tool failed and did not say why."
	return *a.ReturnValue
}

// hookAnswer reads what a hook decided; what is not understood allows.
func hookAnswer(result json.RawMessage, err error) wire.HookDecision {
	var d wire.HookDecision
	if err != nil || json.Unmarshal(result, &d) != nil || d.Action != "block" {
		d.Action = "allow"
	}
	return d
}
