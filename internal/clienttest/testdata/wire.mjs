// Drives kimi-acp with kimi-agent-sdk, as an extension that was made for kimi-cli does:
// a prompt with an approval, a tool of its own, a cancel, and the session again. Says
// on stdout, as JSON, what came of it.
const plan = JSON.parse(process.argv[2]);
const sdk = await import(plan.sdk);

const out = { turns: [], approvals: [], asked: [], errors: [], replayed: 0 };

function open() {
  return sdk.createSession({
    workDir: plan.cwd,
    sessionId: plan.session,
    executable: plan.agent,
    clientInfo: { name: "test", version: "1" },
    externalTools: [
      {
        name: "weather",
        description: "The weather of a city",
        parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
        handler: async ({ city }) => {
          out.asked.push(city);
          return { output: `sunny in ${city}`, message: "Looked it up." };
        },
      },
    ],
  });
}

async function ask(session, text, { cancel = false } = {}) {
  const turn = session.prompt(text);
  const types = {};
  let said = "";
  for await (const e of turn) {
    types[e.type] = (types[e.type] ?? 0) + 1;
    if (e.type === "error") {
      out.errors.push(`${e.code}: ${e.message}`);
    }
    if (e.type === "ContentPart" && e.payload.type === "text") {
      said += e.payload.text;
    }
    if (e.type === "ApprovalRequest") {
      out.approvals.push({ action: e.payload.action, description: e.payload.description, shown: e.payload.display.map((d) => d.type) });
      if (cancel) {
        await turn.interrupt();
      } else {
        await turn.approve(e.payload.id, "approve");
      }
    }
  }
  const result = await turn.result;
  out.turns.push({ status: result.status, said, types });
}

try {
  const first = open();
  await ask(first, "write a file");
  await ask(first, "what is the weather in Bonn?");
  await ask(first, "remove all", { cancel: true });
  await first.close();

  const again = open();
  await ask(again, "go on");
  await again.close();
  out.listed = (await sdk.listSessions(plan.cwd)).map((s) => s.id);
  out.replayed = (await sdk.parseSessionEvents(plan.cwd, plan.session)).length;
} catch (e) {
  out.failure = String(e?.stack ?? e);
}
console.log(JSON.stringify(out));
