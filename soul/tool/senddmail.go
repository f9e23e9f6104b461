package tool

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"kimi-acp/internal/policy"
	"kimi-acp/soul/wire"
)

// SendDMailName is the name of the tool by which a model goes back in its turn.
const SendDMailName = "SendDMail"

// maxDMail bounds a message, in characters.
const maxDMail = 20_000

//go:embed senddmail.md
var sendDMailDescription string

// What the description says of files, by whether they can go back.
const (
	dmailFilesGo   = "- Files stay as they are, unless you set `restore_files`: then what your tools changed in them since that point is taken back, as far as the user has not changed it. What commands did elsewhere stays. Say in the message what stands.\n"
	dmailFilesStay = "- Files and all that commands did stay as they are. Say in the message what stands.\n"
)

type dmailArguments struct {
	Message      string `json:"message" jsonschema:"What you are to know at that point."`
	CheckpointID int    `json:"checkpoint_id" jsonschema:"The number of the checkpoint to go back to."`
}

type dmailFilesArguments struct {
	Message      string `json:"message" jsonschema:"What you are to know at that point."`
	CheckpointID int    `json:"checkpoint_id" jsonschema:"The number of the checkpoint to go back to."`
	RestoreFiles bool   `json:"restore_files,omitempty" jsonschema:"Whether what was changed in files since goes back too."`
}

// NewSendDMail makes the tool that posts into a soul's mailbox. With files, the model may
// have the files go back too, which needs a journal.
func NewSendDMail(box *Mailbox, files bool) Tool {
	refine := func(a map[string]*jsonschema.Schema) {
		a["message"].MinLength = jsonschema.Ptr(1)
		a["message"].MaxLength = jsonschema.Ptr(maxDMail)
		a["checkpoint_id"].Minimum = jsonschema.Ptr(0.0)
	}
	if !files {
		return Define(Definition[dmailArguments]{
			Name: SendDMailName, Description: sendDMailDescription + dmailFilesStay, Effect: ReadOnly, Refine: refine,
			Run: func(ctx context.Context, c *Invocation, in dmailArguments) wire.ToolReturnValue {
				return sendDMail(ctx, c, box, DMail{Message: in.Message, Checkpoint: in.CheckpointID})
			},
		})
	}
	return Define(Definition[dmailFilesArguments]{
		Name: SendDMailName, Description: sendDMailDescription + dmailFilesGo, Effect: ReadOnly, Refine: refine,
		Run: func(ctx context.Context, c *Invocation, in dmailFilesArguments) wire.ToolReturnValue {
			return sendDMail(ctx, c, box, DMail{Message: in.Message, Checkpoint: in.CheckpointID, Files: in.RestoreFiles})
		},
	})
}

func sendDMail(ctx context.Context, c *Invocation, box *Mailbox, mail DMail) wire.ToolReturnValue {
	if err := box.post(mail); err != nil {
		return failure("The message was not sent: "+sentence(err.Error()), "Not sent")
	}
	if mail.Files {
		if err := c.approveTakingBack(ctx, mail.Checkpoint); err != nil {
			box.withdraw()
			return Failed(ctx, err)
		}
	}
	return wire.ToolReturnValue{
		Message: fmt.Sprintf("A message goes back to checkpoint %d.", mail.Checkpoint),
		// When the model reads this, nothing went back.
		Output:  wire.Output{Text: "It was not delivered as long as you can read this: the turn was stopped, or another call of the same answer was turned down. All that stands above still holds. Send it again if you still want it."},
		Display: []wire.Block{wire.Brief(shorten(fmt.Sprintf("To checkpoint %d: %s", mail.Checkpoint, mail.Message), maxBrief))},
	}
}

// approveTakingBack asks for taking back what this turn changed since a checkpoint.
func (c *Invocation) approveTakingBack(ctx context.Context, checkpoint int) error {
	files := c.executor.journal.changedSince(checkpoint)
	if len(files) == 0 {
		return nil
	}
	names := make([]string, 0, len(files))
	for _, f := range files {
		names = append(names, codeSpan(policy.Visible(f)))
	}
	c.Progress(false, "", nil)
	return c.pause(ctx, func() error {
		return c.Approve(ctx, Action{
			Name:        "take back edits",
			Description: "Take back what this turn changed in " + strings.Join(names, ", "),
			Effect:      Edits,
		})
	})
}

// maxNamed bounds the files that a question names.
const maxNamed = 10

// changedSince names the files in which edits of this turn stand that were made since a
// checkpoint, the first ones of many.
func (j *Journal) changedSince(checkpoint int) (names []string) {
	if j == nil {
		return nil
	}
	turn := j.Turn()
	for _, a := range j.applied() {
		since := a.Cause.Turn == turn && a.Cause.Step >= StepAt(checkpoint)
		if name := j.short(a.Path); since && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > maxNamed {
		names = append(names[:maxNamed], plural(len(names)-maxNamed, "other file"))
	}
	return names
}

// StepAt is the number by which a Journal knows the step that begins at a checkpoint.
func StepAt(checkpoint int) int { return checkpoint + 1 }
