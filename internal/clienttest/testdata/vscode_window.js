// Plays VS Code to the extension: a window with one file, in which a user moves,
// selects and types. The names of the API are those of VS Code 1.80; what the
// extension does not use is absent, so that it fails where it uses more.
//
//   node vscode_window.js EXTENSION COMPANION FOLDER
"use strict";

const Module = require("node:module");
const fs = require("node:fs");
const path = require("node:path");
const { pathToFileURL } = require("node:url");

const [extension, command, folder] = process.argv.slice(2);

const listeners = {};
const event = (name) => (f) => ((listeners[name] ??= []).push(f), { dispose() {} });
const fire = (name, value) => (listeners[name] ?? []).forEach((f) => f(value));
const uriFor = (file) => ({ scheme: "file", fsPath: file, toString: () => pathToFileURL(file).toString() });
const position = (line, character) => ({ line, character });
const range = (l1, c1, l2, c2) => ({ start: position(l1, c1), end: position(l2, c2) });

const file = path.join(folder, "a.go");
const document = {
  uri: uriFor(file), languageId: "go", version: 1, isDirty: false,
  text: fs.readFileSync(file, "utf8"), getText() { return this.text; },
};
const editor = { document, selection: { ...range(0, 0, 0, 0), active: position(0, 0), isEmpty: true }, visibleRanges: [range(0, 0, 3, 0)] };
let provider, diagnostics = [], said = [];
const commands = {};

class CodeAction { constructor(title, kind) { Object.assign(this, { title, kind }); } }

const vscode = {
  version: "1.80.0",
  env: { appName: "a window" },
  CodeAction,
  CodeActionKind: { Empty: { append: (value) => ({ value }) } },
  window: {
    activeTextEditor: editor,
    onDidChangeActiveTextEditor: event("focus"),
    onDidChangeTextEditorSelection: event("selection"),
    onDidChangeTextEditorVisibleRanges: event("visible"),
    showWarningMessage: (text) => { said.push(text); },
    setStatusBarMessage: (text) => { said.push(text); },
  },
  workspace: {
    textDocuments: [document],
    workspaceFolders: [{ uri: uriFor(folder), name: "project" }],
    getConfiguration: () => ({ get: () => command }),
    onDidOpenTextDocument: event("open"),
    onDidChangeTextDocument: event("change"),
    onDidSaveTextDocument: event("save"),
    onDidCloseTextDocument: event("close"),
    onDidChangeWorkspaceFolders: event("folders"),
  },
  languages: {
    getDiagnostics: () => diagnostics,
    onDidChangeDiagnostics: event("diagnostics"),
    registerCodeActionsProvider: (_, p) => { provider = p; return { dispose() {} }; },
  },
  commands: { registerCommand: (name, f) => { commands[name] = f; return { dispose() {} }; } },
};

const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));

// Each line on stdin is a step; what was done is said on stdout.
const steps = {
  select() {
    editor.selection = { ...range(2, 15, 2, 21), active: position(2, 21), isEmpty: false };
    fire("selection");
  },
  type() {
    const change = { range: range(2, 22, 2, 23), text: "oops" };
    Object.assign(document, { text: document.text.replace("1", "oops"), version: 2, isDirty: true });
    editor.selection = { ...range(2, 26, 2, 26), active: position(2, 26), isEmpty: true };
    fire("change", { document, contentChanges: [change] });
    fire("selection");
  },
  diagnose() {
    diagnostics = [{ range: range(2, 22, 2, 26), severity: 0, source: "compiler", code: { value: "UndeclaredName" }, message: "undefined: oops" }];
    fire("diagnostics");
  },
  async fix() {
    const actions = await provider.provideCodeActions(document, range(2, 22, 2, 26), { diagnostics, triggerKind: 1 });
    const fix = actions.find((a) => a.title === "Fix with Kimi");
    await commands[fix.command.command](...fix.command.arguments);
  },
};

(async () => {
  const subscriptions = [];
  await require(extension).activate({ subscriptions });
  console.log("activated");
  for await (const line of require("node:readline").createInterface({ input: process.stdin })) {
    await steps[line]();
    console.log(line, ...said.splice(0));
  }
  subscriptions.forEach((s) => s.dispose());
})();
