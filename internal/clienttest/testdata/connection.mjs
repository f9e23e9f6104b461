// Drives the editor through ClientSideConnection, the API of the SDK up to 1.x.
import { run } from "./editor.mjs";

await run((sdk, editor, stream) => {
  const handlers = {
    sessionUpdate: async (params) => editor.sessionUpdate(params),
    requestPermission: async (params) => editor.requestPermission(params),
    readTextFile: async (params) => editor.readTextFile(params),
    writeTextFile: async (params) => editor.writeTextFile(params),
  };
  return new sdk.ClientSideConnection(() => handlers, stream);
});
