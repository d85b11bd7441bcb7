// Archives inactive projects with fetch: whatever it does not understand stops it, or is asked about.

import { randomUUID } from "node:crypto";

const { PROJECTS_URL, PROJECTS_TOKEN, ALLOWED_OWNERS, MODE } = process.env;
const allowed = new Set(ALLOWED_OWNERS.split(","));
const modes = new Map([["archive", false], ["dry-run", true]]);
const states = new Set(["active", "inactive"]);
const MOST = 100;

class Ask extends Error {}
class Lost extends Error {}

async function send(method, path, body, headers = {}) {
  let answer, text;
  try {
    answer = await fetch(PROJECTS_URL + path, {
      method,
      headers: { Authorization: `Bearer ${PROJECTS_TOKEN}`, "Content-Type": "application/json", ...headers },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(10000),
    });
    text = await answer.text();
  } catch {
    throw new Lost("no whole answer came");
  }
  if (answer.status >= 500) throw new Lost(`status ${answer.status}`);
  if (!answer.headers.get("content-type")?.startsWith("application/json")) throw new Error("not JSON");
  const value = JSON.parse(text);
  if (!answer.ok || typeof value !== "object" || value === null || "error" in value) throw new Error("an error");
  return value;
}

async function readProjects() {
  const path = `/projects?state=inactive&limit=${MOST}`;
  try {
    return await send("GET", path);
  } catch (why) {
    if (!(why instanceof Lost)) throw why;
    return send("GET", path); // A read may be repeated.
  }
}

function plan(page) {
  if (!Array.isArray(page.items) || page.items.length > MOST) throw new Error("no list");
  if (page.next_cursor != null) throw new Ask("there are more projects: narrow the request?");
  const known = new Set();
  const targets = [];
  for (const { id, state, owner, archivable } of page.items) {
    if (typeof id !== "string" || id === "" || known.has(id)) throw new Error("no identifier of its own");
    known.add(id);
    if (typeof owner !== "string" || owner === "") throw new Error(`${id}: owner missing`);
    if (typeof state !== "string" || state === "") throw new Error(`${id}: state missing`);
    if (!states.has(state)) throw new Ask(`${id} is ${state}: may it be archived?`);
    if (state === "inactive" && allowed.has(owner) && archivable === true) targets.push(id);
  }
  return targets;
}

async function archive(project_ids, dry_run) {
  let answer;
  try {
    answer = await send("POST", "/projects/archive", { project_ids, dry_run }, { "Idempotency-Key": randomUUID() });
  } catch {
    throw new Ask("no answer came to the request to archive: was it done?");
  }
  if (answer.status !== "accepted") throw new Ask("the answer to the request to archive is not known: was it done?");
}

const proposed = { archive: [], questions: [] };
try {
  if (!modes.has(MODE)) throw new Ask("archive, or a dry run?");
  const targets = plan(await readProjects());
  if (targets.length > 0) {
    proposed.archive = targets;
    await archive(targets, modes.get(MODE));
  }
} catch (why) {
  if (why instanceof Ask) proposed.questions.push(why.message);
  else process.exitCode = 1;
}
console.log(JSON.stringify(proposed));
