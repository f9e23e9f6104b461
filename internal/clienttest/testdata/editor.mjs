// An editor without a screen: it starts the agent, serves files and permissions
// the way a plan says, and tells in one JSON line what came to pass. It holds what
// is the same for every SDK; a driver connects it with the API of its SDK.
//
// The plan is the first argument, as JSON:
//   sdk          the module of the SDK, an absolute path
//   agent        the command of the agent
//   cwd          the session's folder
//   prompts      texts, sent one after the other in one session
//   buffers      path → text that is open in the editor and not saved
//   answer       the kind of permission option to choose, or "cancel": cancel the
//                turn while the question is open
//   cancelAfter  cancel the turn once so many pieces of its answer have come; 0: never
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";

// How long a run may take before it is given up, in milliseconds.
const patience = 30_000;

export class Editor {
  constructor(plan, sdk) {
    this.plan = plan;
    this.sdk = sdk;
    this.buffers = new Map(Object.entries(plan.buffers ?? {}));
    this.pieces = 0; // pieces of the running turn's answer
    this.ending = false;
    this.updated = new Set(); // ids of the sessions that updates were for
    this.summary = {
      protocolVersion: 0,
      turns: [], // {stopReason, text}
      permissions: [], // {toolCallId, kind, options, diffs}
      reads: [], // paths
      writes: [], // {path, content}
      calls: {}, // toolCallId → last status
      sent: {}, // kind of update → how many lines the agent wrote
      handled: {}, // kind of update → how many the SDK let through
      strayLines: [], // what the agent wrote to stdout that is no JSON
      agentExit: null,
      agentLog: "",
      failure: "",
    };
  }

  // start runs the agent and gives the two byte streams of its connection.
  start() {
    const [command, ...args] = this.plan.agent;
    this.child = spawn(command, args, { cwd: this.plan.cwd, stdio: ["pipe", "pipe", "pipe"] });
    this.exited = new Promise((resolve) => this.child.once("close", resolve));
    this.child.stderr.on("data", (data) => (this.summary.agentLog += data));
    this.child.once("error", (error) => this.giveUp(`the agent does not start: ${error.message}`));
    this.child.once("exit", (code, signal) => {
      this.summary.agentExit = code ?? signal;
      if (!this.ending) this.giveUp("the agent ended before the editor let it go");
    });
    setTimeout(() => this.giveUp(`not done after ${patience} ms`), patience).unref();
    return { input: Writable.toWeb(this.child.stdin), output: this.watchedOutput() };
  }

  // watchedOutput is what the agent writes, noted line by line on its way.
  watchedOutput() {
    const { stdout } = this.child;
    let rest = "";
    return new ReadableStream({
      start: (controller) => {
        const decoder = new TextDecoder();
        stdout.on("data", (data) => {
          const lines = (rest + decoder.decode(data, { stream: true })).split("\n");
          rest = lines.pop();
          lines.forEach((line) => this.noteLine(line));
          controller.enqueue(new Uint8Array(data));
        });
        stdout.on("end", () => {
          if (rest) this.noteLine(rest);
          controller.close();
        });
      },
    });
  }

  noteLine(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      this.summary.strayLines.push(line);
      return;
    }
    if (message.method === "session/update") count(this.summary.sent, message.params.update.sessionUpdate);
  }

  // play is the whole run. The driver gives what differs between the APIs:
  // initialize, newSession, prompt and cancel.
  async play(agent) {
    this.agent = agent;
    const { protocolVersion } = await agent.initialize({
      protocolVersion: 1,
      clientInfo: { name: "clienttest", version: "1.0.0" },
      clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: false },
    });
    this.summary.protocolVersion = protocolVersion;
    const { sessionId } = await agent.newSession({ cwd: this.plan.cwd, mcpServers: [] });
    this.sessionId = sessionId;
    for (const text of this.plan.prompts) {
      this.turn = { stopReason: "", text: "" };
      this.pieces = 0;
      const { stopReason } = await agent.prompt({ sessionId, prompt: [{ type: "text", text }] });
      await this.settled();
      this.summary.turns.push({ ...this.turn, stopReason });
    }
    await this.finish();
  }

  // settled waits until the SDK has handed over what the agent wrote before its
  // answer: an SDK may resolve the answer first. Updates that it rejects never
  // come, hence the bound.
  async settled() {
    for (let i = 0; i < 20 && total(this.summary.handled) < total(this.summary.sent); i++) await delay(10);
  }

  async finish() {
    this.ending = true;
    this.child.stdin.end();
    await this.exited;
    await this.settled();
    this.updated.delete(this.sessionId);
    if (this.updated.size) this.summary.failure = `updates for other sessions: ${[...this.updated]}`;
    this.report();
  }

  // report tells the summary once and ends the program.
  report() {
    if (this.reported) return;
    this.reported = true;
    process.stdout.write(JSON.stringify(this.summary) + "\n", () => process.exit(this.summary.failure ? 1 : 0));
  }

  giveUp(why) {
    if (this.ending) why += ", after its input was closed";
    this.ending = true;
    this.summary.failure ||= why;
    this.child.kill("SIGKILL");
    this.report();
  }

  // What the agent asks and tells.

  sessionUpdate({ sessionId, update }) {
    this.updated.add(sessionId); // judged at the end: the first may come before newSession resolves
    count(this.summary.handled, update.sessionUpdate);
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        if (this.turn) this.turn.text += update.content.text;
        if (++this.pieces === this.plan.cancelAfter && this.summary.turns.length === 0) return this.cancel();
        break;
      case "tool_call":
      case "tool_call_update":
        if (update.status) this.summary.calls[update.toolCallId] = update.status;
    }
  }

  async requestPermission({ toolCall, options }) {
    this.summary.permissions.push({
      toolCallId: toolCall.toolCallId,
      kind: toolCall.kind ?? "",
      options: options.map((option) => option.kind),
      diffs: (toolCall.content ?? [])
        .filter((item) => item.type === "diff")
        .map(({ path, oldText, newText }) => ({ path, oldText: oldText ?? null, newText })),
    });
    if (this.plan.answer === "cancel") {
      await this.cancel();
      return { outcome: { outcome: "cancelled" } };
    }
    const { optionId } = options.find((option) => option.kind === this.plan.answer);
    return { outcome: { outcome: "selected", optionId } };
  }

  readTextFile({ path }) {
    this.summary.reads.push(path);
    if (this.buffers.has(path)) return { content: this.buffers.get(path) };
    try {
      return { content: readFileSync(path, "utf8") };
    } catch {
      throw this.sdk.RequestError.resourceNotFound(path);
    }
  }

  // writeTextFile saves as editors do: the buffer takes the text, and so does the disk.
  writeTextFile({ path, content }) {
    this.summary.writes.push({ path, content });
    if (this.buffers.has(path)) this.buffers.set(path, content);
    writeFileSync(path, content);
    return {};
  }

  cancel() {
    return this.agent.cancel({ sessionId: this.sessionId });
  }
}

// run loads the SDK, lets a driver connect the editor, and plays.
export async function run(connect) {
  const plan = JSON.parse(process.argv[2]);
  const sdk = await import(pathToFileURL(plan.sdk));
  const editor = new Editor(plan, sdk);
  const { input, output } = editor.start();
  try {
    await editor.play(connect(sdk, editor, sdk.ndJsonStream(input, output)));
  } catch (error) {
    editor.giveUp(`${error.message ?? error} ${JSON.stringify({ code: error.code, data: error.data })}`);
  }
}

function count(counts, key) {
  counts[key] = (counts[key] ?? 0) + 1;
}

function total(counts) {
  return Object.values(counts).reduce((sum, n) => sum + n, 0);
}
