// Drives the console by keyboard alone in a headless Chromium, and checks each page with axe.
//
//   node keys.mjs --installed FOLDER --link URL [--shots FOLDER] [--show PAGES]
//
// Approves the one call that waits, by keys alone. Prints one JSON object: what was seen after each step, the requests
// that left for another host, and the violations. Exit code 0: it ran; what it saw is for the caller to judge. 3: no
// browser is here.
import { createRequire } from "node:module";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: { installed: { type: "string" }, link: { type: "string" }, shots: { type: "string" }, show: { type: "string" } },
});
const require = createRequire(join(values.installed, "package.json"));
const browser = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
if (!browser) {
  console.log("no Chromium is here");
  process.exit(3);
}
const { chromium } = require("playwright-core");
const axe = require.resolve("axe-core/axe.min.js");
const profile = mkdtempSync(join(tmpdir(), "steadfast-console-"));
const context = await chromium.launchPersistentContext(profile, {
  executablePath: browser,
  headless: true,
  // The check is put into the page beside its policy; the page itself keeps to it, as the test of the headers shows.
  bypassCSP: true,
  viewport: { width: 1180, height: 860 },
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const seen = { steps: [], elsewhere: [], errors: [], violations: [] };
const address = new URL(values.link);
try {
  const page = context.pages()[0] ?? (await context.newPage());
  page.setDefaultTimeout(60_000);
  page.on("request", (request) => {
    if (new URL(request.url()).host !== address.host) seen.elsewhere.push(request.url());
  });
  page.on("pageerror", (error) => seen.errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") seen.errors.push(message.text());
  });
  const shot = async (name) => {
    if (values.shots) await page.screenshot({ path: join(values.shots, `${name}.png`), fullPage: true });
  };
  const check = async (name) => {
    if (!(await page.evaluate(() => "axe" in window))) await page.addScriptTag({ path: axe });
    const found = await page.evaluate(async () => (await window.axe.run(document)).violations);
    for (const one of found) {
      seen.violations.push({ page: name, id: one.id, nodes: one.nodes.map((node) => node.html.slice(0, 200)).slice(0, 4) });
    }
  };
  const step = async (name) => {
    const focus = await page.evaluate(() => document.activeElement?.id || document.activeElement?.tagName);
    seen.steps.push({ name, address: page.url().replace(address.origin, ""), focus });
  };
  const drawn = (name) => page.waitForFunction((name) => document.querySelector("main h1")?.textContent.includes(name), name);

  await page.goto(values.link);
  await page.waitForSelector("[data-ask=approve]");
  await step("opened");
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: scheme });
    await check(`approvals ${scheme}`);
    await shot(`approvals-${scheme}`);
  }
  await page.setViewportSize({ width: 390, height: 844 });
  await check("approvals 390");
  await shot("approvals-390");
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  seen.overflow = wide > 390;
  await page.setViewportSize({ width: 1180, height: 860 });
  await page.emulateMedia({ colorScheme: "light" });

  await page.keyboard.press("?");
  await step("help");
  await check("help");
  await shot("help");
  await page.keyboard.press("Escape");

  for (const [key, heading] of [["2", "Sessions"], ["3", "Activity"], ["4", "Drift"], ["5", "Adapters"], ["6", "Journal"]]) {
    await page.keyboard.press(key);
    await drawn(heading);
    await step(heading);
    for (const scheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme: scheme });
      await check(`${heading} ${scheme}`);
      await shot(`${heading.toLowerCase()}-${scheme}`);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await check(`${heading} 390`);
    await shot(`${heading.toLowerCase()}-390`);
    seen.overflow ||= (await page.evaluate(() => document.documentElement.scrollWidth)) > 390;
    await page.setViewportSize({ width: 1180, height: 860 });
    await page.emulateMedia({ colorScheme: "light" });
  }

  await page.keyboard.press("4");
  await drawn("Drift");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForTimeout(400);
  await step("difference");
  await check("difference");
  await shot("difference-light");

  await page.keyboard.press("1");
  await page.waitForSelector("[data-ask=approve]");
  await page.keyboard.press("j");
  await step("card");
  await page.keyboard.press("t");
  await drawn("Trace");
  await step("trace");
  await check("trace");
  await shot("trace-light");
  await page.keyboard.press("Escape");
  await page.waitForSelector("[data-ask=approve]");
  await page.keyboard.press("j");
  await page.keyboard.press("a");
  await page.waitForSelector("#ask[open]");
  await step("asked");
  await check("question");
  await shot("question-light");
  await page.keyboard.press("y");
  await page.waitForFunction(() => document.querySelector("#said").textContent.startsWith("approved"));
  await page.waitForFunction(() => !document.querySelector("[data-ask=approve]"));
  await step("approved");
  await check("nothing waits");
  await shot("nothing-light");
} catch (error) {
  seen.failed = String(error);
} finally {
  await context.close();
  rmSync(profile, { recursive: true, force: true });
}
console.log(JSON.stringify(seen));
