// Starts `quern lsp` when a Quern text is opened, and ends it with the editor.
"use strict";

const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function activate() {
  const program = workspace.getConfiguration("quern").get("program", "quern");
  client = new LanguageClient(
    "quern",
    "Quern",
    { command: program, args: ["lsp"] },
    { documentSelector: [{ language: "quern" }] },
  );
  return client.start();
}

function deactivate() {
  return client ? client.stop() : undefined;
}

module.exports = { activate, deactivate };
