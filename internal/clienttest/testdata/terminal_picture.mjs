// Draws what a program wrote to a terminal of 40 lines of 120 columns, as the standard
// input holds it, and keeps the picture.
//
//   node terminal_picture.mjs PLAYWRIGHT CHROMIUM XTERM PICTURE
import { createRequire } from "node:module";
import { buffer } from "node:stream/consumers";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [playwright, chromium, xterm, picture] = process.argv.slice(2);
const { chromium: browsers } = createRequire(pathToFileURL(playwright + path.sep))("playwright-core");

const shown = [...await buffer(process.stdin)];
const browser = await browsers.launch({ executablePath: chromium, chromiumSandbox: false });
try {
  const page = await browser.newPage({ viewport: { width: 1000, height: 720 } });
  await page.setContent('<body style="margin: 0"><div id="terminal" style="display: inline-block"></div></body>');
  await page.addStyleTag({ path: path.join(xterm, "css", "xterm.css") });
  await page.addScriptTag({ path: path.join(xterm, "lib", "xterm.js") });
  await page.evaluate(async (bytes) => {
    const terminal = new Terminal({ rows: 40, cols: 120, fontFamily: "DejaVu Sans Mono", fontSize: 13 });
    terminal.open(document.getElementById("terminal"));
    await new Promise((done) => terminal.write(new Uint8Array(bytes), done));
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  }, shown);
  await page.locator("#terminal").screenshot({ path: picture });
} finally {
  await browser.close();
}
