package soul

// leftOff is what long work of earlier turns was left off, and can be gone on with. It is
// kept beside the session, and read from there when it is asked for first.
type leftOff struct {
	known bool // read, if there is something to read
	flow  *flowPlace
	goal  *goal
	due   bool // the user is still to be told of it
}

// Where a session keeps what was left off.
const (
	flowKey = "flow"
	goalKey = "goal"
)

// leftFlow is the flow that was left off, nil when there is none.
func (b *Builtin) leftFlow() *flowPlace {
	b.readLeft()
	return b.left.flow
}

// leaveFlow keeps where a flow stands, nil: nowhere.
func (b *Builtin) leaveFlow(p *flowPlace) {
	b.readLeft()
	b.left.flow = p
	b.record.setAside(flowKey, p)
}

// readLeft reads what an earlier process has kept.
func (b *Builtin) readLeft() {
	if b.left.known {
		return
	}
	b.left.known = true
	if kept := b.record.kept; kept != nil {
		kept.Aside(flowKey, &b.left.flow)
		kept.Aside(goalKey, &b.left.goal)
	}
}

// remindOfLeft tells the user, with the first turn of a session that was opened again, of
// what was left off in it. A command may be just about that.
func (b *Builtin) remindOfLeft(command bool) {
	if !b.left.due || command || b.cfg.Profile.silentStops {
		return
	}
	b.left.due = false
	if b.cfg.Session != nil {
		if n := len(b.cfg.Session.Waiting()); n > 0 {
			// Said and not notified: editors that take no notices must know of it, too.
			b.say("%s waiting when the program ended: `/queue` shows what waits, `/queue run` sends it, `/queue clear` forgets it.\n\n", prompts(n, "was", "were"))
		}
	}
	if g := b.lastGoal(); g != nil && g.State != goalReached {
		b.tell("info", "A goal of this session is not reached", g.describe()+" `/goal resume` goes on with it.")
	}
	if f := b.leftFlow(); f != nil {
		b.tell("info", "A flow was left off in this session", "`/"+flowPrefix+commandName(f.Name)+" continue` goes on with it.")
	}
}
