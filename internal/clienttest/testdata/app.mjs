// Drives the editor through client(), the API of the SDK from 2.x.
import { run } from "./editor.mjs";

await run((sdk, editor, stream) => {
  const { agent: toAgent, client: toClient } = sdk.methods;
  const { agent } = sdk
    .client({ name: "clienttest" })
    .onNotification(toClient.session.update, ({ params }) => editor.sessionUpdate(params))
    .onRequest(toClient.session.requestPermission, ({ params }) => editor.requestPermission(params))
    .onRequest(toClient.fs.readTextFile, ({ params }) => editor.readTextFile(params))
    .onRequest(toClient.fs.writeTextFile, ({ params }) => editor.writeTextFile(params))
    .connect(stream);
  return {
    initialize: (params) => agent.request(toAgent.initialize, params),
    newSession: (params) => agent.request(toAgent.session.new, params),
    prompt: (params) => agent.request(toAgent.session.prompt, params),
    cancel: (params) => agent.notify(toAgent.session.cancel, params),
  };
});
