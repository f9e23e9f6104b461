// A connection to the companion: LSP messages over the pipes of a child process.
"use strict";

const { spawn } = require("node:child_process");

class Companion {
  // onEnd is called once, when the process is gone or could not be started.
  constructor(command, onEnd) {
    this.waiting = new Map();
    this.next = 1;
    this.rest = Buffer.alloc(0);
    this.onNotification = () => {};
    this.child = spawn(command, ["lsp"], { stdio: ["pipe", "pipe", "ignore"] });
    this.child.stdout.on("data", (piece) => this.receive(piece));
    this.child.stdin.on("error", () => {}); // the end of the process says it
    let ended = false;
    const end = (why) => {
      if (!ended) {
        ended = true;
        for (const { reject } of this.waiting.values()) reject(new Error("the companion has ended"));
        this.waiting.clear();
        onEnd(why);
      }
    };
    this.child.on("error", end);
    this.child.on("exit", () => end(null));
  }

  request(method, params) {
    const id = this.next++;
    this.send({ jsonrpc: "2.0", id, method, params });
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  notify(method, params) {
    this.send({ jsonrpc: "2.0", method, params });
  }

  send(message) {
    const body = Buffer.from(JSON.stringify(message));
    this.child.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.child.stdin.write(body);
  }

  receive(piece) {
    this.rest = Buffer.concat([this.rest, piece]);
    for (;;) {
      const head = this.rest.indexOf("\r\n\r\n");
      if (head < 0) return;
      const length = Number(/content-length: *(\d+)/i.exec(this.rest.subarray(0, head).toString("latin1"))?.[1]);
      if (this.rest.length < head + 4 + length) return;
      const body = this.rest.subarray(head + 4, head + 4 + length);
      this.rest = this.rest.subarray(head + 4 + length);
      this.handle(JSON.parse(body.toString("utf8")));
    }
  }

  handle(message) {
    const waiting = this.waiting.get(message.id);
    if (message.method) {
      this.onNotification(message.method, message.params);
    } else if (waiting) {
      this.waiting.delete(message.id);
      if (message.error) waiting.reject(new Error(message.error.message));
      else waiting.resolve(message.result);
    }
  }

  // end lets the companion go by the end of its input.
  end() {
    this.child.stdin.end();
  }
}

module.exports = { Companion };
