// Archives inactive projects with fetch, and takes whatever comes for what it was last week.

const { PROJECTS_URL, PROJECTS_TOKEN, BLOCKED_OWNERS, MODE } = process.env;
const blocked = BLOCKED_OWNERS.split(",");

async function send(method, path, body) {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const headers = { Authorization: `Bearer ${PROJECTS_TOKEN}`, "Idempotency-Key": crypto.randomUUID() };
    try {
      const answer = await fetch(PROJECTS_URL + path, { method, headers, body: body && JSON.stringify(body) });
      return await answer.json();
    } catch (why) {
      console.error("again", why.message, headers);
    }
  }
  return {};
}

const targets = [];
const questions = [];
if (!MODE) {
  questions.push("archive, or a dry run?");
} else {
  let cursor = "";
  do {
    const page = await send("GET", `/projects?state=inactive&limit=100${cursor}`);
    for (const item of page.items ?? []) {
      if (item.archivable !== false && !blocked.includes(item.owner)) targets.push(item.id);
    }
    cursor = page.next_cursor ? `&cursor=${page.next_cursor}` : "";
  } while (cursor);
  await send("POST", "/projects/archive", { project_ids: targets, dry_run: MODE === "dry-run" });
}
console.log(JSON.stringify({ archive: targets, questions }));
