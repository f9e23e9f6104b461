// Starts the companion for this window and tells it what is in front of the user. It
// knows no agent: the two meet through the companion.
"use strict";

const vscode = require("vscode");
const { Companion } = require("./lsp.js");

const delay = 80; // milliseconds for which moves of the cursor are gathered

const isFile = (document) => document.uri.scheme === "file";
const uriOf = (document) => document.uri.toString();
const position = (p) => ({ line: p.line, character: p.character });
const range = (r) => ({ start: position(r.start), end: position(r.end) });

function finding(d) {
  const code = typeof d.code === "object" ? d.code?.value : d.code;
  return { range: range(d.range), severity: d.severity + 1, source: d.source, code, message: d.message };
}

// active is the editor in focus, undefined where nothing is to be told: while a panel
// or a chat is in focus, what was told last holds.
function active() {
  const editor = vscode.window.activeTextEditor;
  if (!editor || !isFile(editor.document)) return undefined;
  return {
    uri: uriOf(editor.document),
    languageId: editor.document.languageId,
    cursor: position(editor.selection.active),
    selection: editor.selection.isEmpty ? undefined : range(editor.selection),
    visible: editor.visibleRanges.length > 0 ? range(editor.visibleRanges[0]) : undefined,
  };
}

function state() {
  const documents = vscode.workspace.textDocuments.filter(isFile);
  return {
    encoding: "utf-16",
    active: active(),
    documents: documents.map((d) => ({ uri: uriOf(d), modified: d.isDirty })),
    diagnostics: documents.map((d) => ({ uri: uriOf(d), items: vscode.languages.getDiagnostics(d.uri).map(finding) })),
  };
}

// actions are the companion's code actions, as those of the editor.
function actions(companion) {
  return {
    async provideCodeActions(document, where, context) {
      const offered = await companion.request("textDocument/codeAction", {
        textDocument: { uri: uriOf(document) },
        range: range(where),
        context: { diagnostics: context.diagnostics.map(finding), triggerKind: context.triggerKind, only: context.only && [context.only.value] },
      });
      return offered.map((o) => {
        const action = new vscode.CodeAction(o.title, vscode.CodeActionKind.Empty.append(o.kind));
        action.command = { title: o.title, command: "kimiAcp.queue", arguments: [o.command] };
        return action;
      });
    },
  };
}

async function activate(context) {
  const own = context.subscriptions;
  const command = vscode.workspace.getConfiguration("kimiAcp").get("command");
  let running = true;
  const companion = new Companion(command, (why) => {
    running = false;
    if (why) vscode.window.showWarningMessage(`The kimi-acp companion cannot be started: ${why.message}. Set kimiAcp.command to its path.`);
  });
  own.push({ dispose: () => companion.end() });
  companion.onNotification = (method, params) => {
    if (method === "window/showMessage") vscode.window.setStatusBarMessage(params.message, 5000);
  };
  const folders = (list) => (list ?? []).filter((f) => f.uri.scheme === "file").map((f) => ({ uri: f.uri.toString(), name: f.name }));
  try {
    await companion.request("initialize", {
      processId: process.pid,
      clientInfo: { name: vscode.env.appName, version: vscode.version },
      rootUri: null,
      workspaceFolders: folders(vscode.workspace.workspaceFolders),
      capabilities: { general: { positionEncodings: ["utf-16"] }, textDocument: { codeAction: { codeActionLiteralSupport: {} } } },
    });
  } catch {
    return; // it was said when the process ended
  }
  const notify = (method, params) => running && companion.notify(method, params);
  notify("initialized", {});

  let due;
  const soon = () => {
    due ??= setTimeout(() => {
      due = undefined;
      notify("kimi/editorState", state());
    }, delay);
  };
  own.push({ dispose: () => clearTimeout(due) });

  const open = (d) => {
    if (!isFile(d)) return;
    notify("textDocument/didOpen", { textDocument: { uri: uriOf(d), languageId: d.languageId, version: d.version, text: d.getText() } });
    soon();
  };
  vscode.workspace.textDocuments.forEach(open);
  own.push(
    vscode.workspace.onDidOpenTextDocument(open),
    vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      if (!isFile(document)) return;
      if (contentChanges.length > 0) {
        notify("textDocument/didChange", {
          textDocument: { uri: uriOf(document), version: document.version },
          contentChanges: contentChanges.map((c) => ({ range: range(c.range), text: c.text })),
        });
      }
      soon();
    }),
    vscode.workspace.onDidSaveTextDocument((d) => {
      if (!isFile(d)) return;
      notify("textDocument/didSave", { textDocument: { uri: uriOf(d) } });
      soon();
    }),
    vscode.workspace.onDidCloseTextDocument((d) => {
      if (isFile(d)) notify("textDocument/didClose", { textDocument: { uri: uriOf(d) } });
    }),
    vscode.workspace.onDidChangeWorkspaceFolders((e) => {
      notify("workspace/didChangeWorkspaceFolders", { event: { added: folders(e.added), removed: folders(e.removed) } });
    }),
    vscode.window.onDidChangeActiveTextEditor(soon),
    vscode.window.onDidChangeTextEditorSelection(soon),
    vscode.window.onDidChangeTextEditorVisibleRanges(soon),
    vscode.languages.onDidChangeDiagnostics(soon),
    vscode.languages.registerCodeActionsProvider({ scheme: "file" }, actions(companion)),
    vscode.commands.registerCommand("kimiAcp.queue", async (queued) => {
      try {
        await companion.request("workspace/executeCommand", { command: queued.command, arguments: queued.arguments });
      } catch (why) {
        vscode.window.showWarningMessage(`Kimi did not get it: ${why.message}`);
      }
    }),
  );
  soon();
}

module.exports = { activate, deactivate() {} };
