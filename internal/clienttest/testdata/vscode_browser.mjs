// Sits at VS Code's keyboard: starts its server and a browser on it, opens a folder,
// and does what the lines of the standard input say, each answered by "ok" or by what
// went wrong. A line is a command and, after a space, its argument:
//
//   open a.ts          opens a file by the list of files
//   goto 3:23          moves the cursor to a line and column
//   keys Control+G     presses the keys together
//   type some text     types the text
//   actions some text  asks for code actions until the text is among them
//   click some text    clicks what has the text
//   picture a.png      keeps a picture of the window
//
// Everything ends with the standard input.
//
//   node vscode_browser.mjs PLAYWRIGHT CHROMIUM VSCODE DATA FOLDER
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import readline from "node:readline";
import { pathToFileURL } from "node:url";

const [playwright, chromium, vscode, data, folder] = process.argv.slice(2);
const { chromium: browsers } = createRequire(pathToFileURL(playwright + path.sep))("playwright-core");
const patience = 60_000; // milliseconds that anything may take

const server = spawn(process.execPath, [
  path.join(vscode, "out", "server-main.js"),
  "--host", "127.0.0.1", "--port", "0", "--without-connection-token", "--accept-server-license-terms",
  "--telemetry-level", "off", "--disable-workspace-trust",
  "--server-data-dir", data, "--extensions-dir", path.join(data, "extensions"),
], { stdio: ["ignore", "pipe", "inherit"] });
const gone = new Promise((resolve) => server.on("exit", resolve));

let browser;
async function leave(code) {
  await browser?.close();
  server.kill();
  await gone;
  process.exit(code);
}

try {
  const address = await new Promise((resolve, reject) => {
    gone.then((code) => reject(new Error(`the server of VS Code ended with ${code}`)));
    readline.createInterface({ input: server.stdout }).on("line", (line) => {
      const found = /http:\/\/\S+/.exec(line);
      if (found) resolve(found[0]);
      else console.error(line);
    });
  });
  browser = await browsers.launch({ executablePath: chromium, chromiumSandbox: false });
  const page = await browser.newPage({ viewport: { width: 1200, height: 760 } });
  page.setDefaultTimeout(patience);
  await page.goto(new URL("?folder=" + encodeURIComponent(folder), address).href);
  const asking = page.locator(".quick-input-widget"); // where commands ask for something
  const commands = {
    open: (name) => page.getByRole("treeitem", { name }).dblclick(),
    async goto(place) {
      await page.keyboard.press("Control+G");
      await asking.waitFor();
      await page.keyboard.type(place);
      await page.keyboard.press("Enter");
      await asking.waitFor({ state: "hidden" });
    },
    keys: (keys) => page.keyboard.press(keys),
    type: (text) => page.keyboard.type(text, { delay: 20 }),
    // VS Code drops the question when something comes between, as what a language
    // server finds meanwhile.
    async actions(text) {
      for (let tries = 1; ; tries++) {
        await page.keyboard.press("Control+.");
        try {
          return await page.getByText(text).first().waitFor({ timeout: patience / 6 });
        } catch (why) {
          if (tries === 6) throw why;
          await page.keyboard.press("Escape");
        }
      }
    },
    click: (text) => page.getByText(text).first().click(),
    picture: (file) => page.screenshot({ path: file }),
  };
  await page.locator(".monaco-workbench").waitFor();
  console.log("ok");
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [, name, argument] = /^(\S+) ?(.*)$/.exec(line);
    try {
      await commands[name](argument);
      console.log("ok");
    } catch (why) {
      console.log(`${line}: ${why.message.replaceAll("\n", " ")}`);
    }
  }
  await leave(0);
} catch (why) {
  console.error(why);
  await leave(1);
}
