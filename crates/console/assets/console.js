// The page: it asks for parts that are drawn elsewhere, shows them, and sends what a person decided.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const main = $("main");
  const pages = ["approvals", "sessions", "activity", "drift", "adapters", "journal"];
  const kept = "steadfast-session";
  let session = null;
  let shown = "";
  let drawing = 0;
  let again = null;

  // The storage belongs to this very address and port, and no browser sends it by itself.
  const remember = (value) => {
    session = value;
    try {
      if (value) sessionStorage.setItem(kept, value);
      else sessionStorage.removeItem(kept);
    } catch { /* without a storage the session ends with the page */ }
  };
  const bearer = () => ({ Authorization: `Bearer ${session}` });

  const banner = (text) => {
    $("banner").textContent = text || "";
    $("banner").hidden = !text;
  };
  const say = (text, wrong) => {
    $("said").textContent = text;
    $("said").className = wrong ? "wrong" : "";
    clearTimeout(say.timer);
    say.timer = setTimeout(() => { $("said").textContent = ""; }, 12000);
  };

  async function start() {
    const link = location.hash.slice(1);
    if (/^[0-9a-f]{64}$/.test(link)) {
      // It is out of the address before anything else: no history keeps it.
      history.replaceState(null, "", location.pathname + location.search);
      const answer = await fetch("/session", { method: "POST", headers: { Authorization: `Bearer ${link}` } });
      if (answer.ok) remember((await answer.json()).session);
    }
    if (!session) {
      try { session = sessionStorage.getItem(kept); } catch { session = null; }
    }
    if (!session) return closed();
    if (location.pathname === "/") history.replaceState(null, "", "/approvals");
    await draw(true);
    listen();
  }

  function closed() {
    remember(null);
    banner("");
    link(false);
    main.innerHTML = "";
    const title = document.createElement("h1");
    title.textContent = "This page is not signed in";
    const what = document.createElement("p");
    what.textContent = "Open the link that steadfast console printed at its terminal. Each link opens the console once, in one tab; "
      + "press Enter at that terminal for another one. Where the link was used and you did not use it, end the console: somebody else has it.";
    main.append(title, what);
  }

  const page = () => location.pathname.slice(1) || "approvals";

  // Draws the part of this address. What did not change is left alone, and so is where the person is.
  async function draw(moved) {
    const mine = ++drawing;
    let answer;
    try {
      answer = await fetch(`/part${location.pathname}${location.search}`, { headers: bearer(), cache: "no-store" });
    } catch { return link(false); }
    if (mine !== drawing) return;
    if (answer.status === 401) return closed();
    const text = answer.ok ? await answer.text() : "<h1>Not found</h1><p>There is no such page.</p>";
    if (mine !== drawing || (text === shown && !moved)) return;
    shown = text;
    const place = moved ? null : where();
    const open = new Set([...main.querySelectorAll("details[open][id]")].map((one) => one.id));
    main.replaceChildren(...new DOMParser().parseFromString(text, "text/html").body.childNodes);
    main.querySelectorAll("details[id]").forEach((one) => { if (open.has(one.id)) one.open = true; });
    finish();
    for (const one of document.querySelectorAll("[data-page]")) {
      const here = one.dataset.page === page() || (page() === "diff" && one.dataset.page === "drift") || (page() === "trace" && one.dataset.page === "activity");
      if (here) one.setAttribute("aria-current", "page");
      else one.removeAttribute("aria-current");
    }
    if (moved) {
      window.scrollTo(0, 0);
      main.focus({ preventScroll: true });
    } else if (place) {
      const back = $(place);
      if (back) back.focus({ preventScroll: true });
      else main.focus({ preventScroll: true });
    }
    title();
  }

  const where = () => {
    const active = document.activeElement;
    if (!active || !main.contains(active)) return null;
    return active.id || active.closest("[data-item][id]")?.id || "main";
  };

  const heading = () => main.querySelector("h1")?.textContent || "console";
  const title = () => {
    const count = $("waiting").textContent;
    document.title = `${count ? `(${count}) ` : ""}${heading()} · steadfast`;
  };

  // Times in the zone of this person, and how long is left.
  function finish() {
    for (const one of main.querySelectorAll("time[datetime]")) {
      const at = new Date(one.dateTime);
      if (!Number.isNaN(at.getTime())) {
        one.title = one.dateTime;
        const day = at.toDateString() === new Date().toDateString() ? "" : at.toLocaleDateString() + " ";
        one.textContent = day + at.toLocaleTimeString();
      }
    }
    tick();
  }
  function tick() {
    for (const one of main.querySelectorAll("[data-until]")) {
      const left = Math.max(0, Math.round((Number(one.dataset.until) - Date.now()) / 1000));
      const text = left ? `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")} left` : "its time is over";
      if (one.textContent !== text) one.textContent = text;
      one.classList.toggle("soon", left < 60);
    }
  }
  setInterval(tick, 1000);

  function go(address, back) {
    if (!back) history.pushState(null, "", address);
    draw(true);
  }
  addEventListener("popstate", () => draw(true));

  const link = (up) => {
    $("link").className = up ? "dot up" : "dot";
    $("link").setAttribute("aria-label", up ? "live" : "not connected");
  };

  // A stream by hand: the browser's own would send no header.
  async function listen() {
    for (let pause = 500; session; pause = Math.min(pause * 2, 5000)) {
      try {
        const answer = await fetch("/live", { headers: bearer(), cache: "no-store" });
        if (answer.status === 401) return closed();
        if (!answer.ok) throw new Error(String(answer.status));
        link(true);
        banner("");
        pause = 500;
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        let text = "";
        for (;;) {
          const { value, done } = await reader.read();
          if (done) break;
          text += value;
          for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) heard(text.slice(0, end));
        }
      } catch { /* said below */ }
      if (!session) return;
      link(false);
      banner("The console does not answer: its process ended, or is about to come back. What is shown may be old.");
      await new Promise((done) => setTimeout(done, pause));
    }
  }

  let waited = null;
  function heard(event) {
    const data = /^data: (.*)$/m.exec(event);
    if (!data) return;
    const { waiting } = JSON.parse(data[1]);
    $("waiting").textContent = waiting ? String(waiting) : "";
    $("waiting").hidden = !waiting;
    if (waited !== null && waiting > waited) say(waiting === 1 ? "A call waits for a person." : `${waiting} calls wait for a person.`);
    waited = waiting;
    title();
    // Many changes are one drawing.
    if (!again) again = setTimeout(() => { again = null; draw(false); }, 150);
  }

  // What is asked before it is done.
  const questions = {
    approve: ["Approve this call once?", "Approve once", "It is signed with your key and covers exactly this call. It is sent as soon as you say so."],
    deny: ["Deny this call?", "Deny", "The agent is told that a person said no."],
    accept: ["Accept this contract?", "Accept", "From then on calls of this tool are measured by it. Exactly what was shown is granted."],
    resolve: ["Record what you found?", "Record", "Nothing is sent. It stands in the journal under your name."],
    export: ["Export the journal?", "Export", "A new folder is written on this machine; anyone can verify it with its public key alone."],
  };
  let asked = null;
  function ask(button) {
    const [question, yes, note] = questions[button.dataset.ask];
    asked = { act: button.dataset.ask, body: {}, from: where() };
    for (const [name, value] of Object.entries(button.dataset)) {
      if (name !== "ask" && name !== "what") asked.body[name === "digest" && ["approve", "deny"].includes(asked.act) ? "action_digest" : name] = value;
    }
    $("ask-title").textContent = question;
    $("ask-what").textContent = button.dataset.what || "";
    $("ask-note").textContent = note;
    $("ask-yes").textContent = `${yes} `;
    const key = document.createElement("kbd");
    key.textContent = "y";
    $("ask-yes").append(key);
    $("ask").showModal();
    $("ask-no").focus();
  }
  async function act() {
    const { act: name, body, from } = asked;
    $("ask").close();
    try {
      const answer = await fetch(`/do/${name}`, {
        method: "POST",
        headers: { ...bearer(), "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
      const said = await answer.json();
      say(answer.ok ? said.said : said.error, !answer.ok);
    } catch { say("The console did not answer. Look whether it was done before you try again.", true); }
    await draw(false);
    const next = (from && $(from)) || main.querySelector("[data-item]") || main;
    next.focus({ preventScroll: true });
  }
  async function verify() {
    const answer = await fetch("/do/verify", { method: "POST", headers: { ...bearer(), "Content-Type": "application/json" }, body: "{}" });
    const said = await answer.json();
    say(answer.ok ? said.said : said.error, !answer.ok);
  }

  document.addEventListener("click", (event) => {
    const to = event.target.closest("a[data-go]");
    if (to && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0) {
      event.preventDefault();
      return go(to.getAttribute("href"));
    }
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.ask) ask(button);
    else if (button.dataset.verify !== undefined) verify();
    else if (button.id === "ask-yes") act();
    else if (button.id === "ask-no") $("ask").close();
    else if (button.id === "help-close") $("help").close();
    else if (button.id === "helped") $("help").showModal();
  });

  const items = () => [...main.querySelectorAll("[data-item]")];
  const current = () => document.activeElement?.closest?.("[data-item]");
  function step(by) {
    const all = items();
    if (!all.length) return;
    const at = all.indexOf(current());
    const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))];
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  }
  // The item where the focus is, or the only one.
  const chosen = () => current() || (items().length === 1 ? items()[0] : null);
  const press = (found) => { if (found) found.click(); return Boolean(found); };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key;
    if ($("ask").open) {
      if (key === "y") { event.preventDefault(); act(); }
      return;
    }
    if ($("help").open) {
      if (key === "?") $("help").close();
      return;
    }
    if (/^(input|select|textarea)$/i.test(event.target.tagName)) return;
    const item = chosen();
    const acts = {
      j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1),
      a: () => press(item?.querySelector('[data-ask="approve"],[data-ask="accept"]')) || say("Choose an item with j first.", true),
      d: () => press(item?.querySelector('[data-ask="deny"]')) || say("Choose a call with j first.", true),
      t: () => press(item?.querySelector("[data-trace]")),
      n: () => press(main.querySelector("[data-next]")), p: () => history.back(),
      v: () => press(main.querySelector("[data-verify]")), e: () => press(main.querySelector('[data-ask="export"]')),
      "?": () => $("help").showModal(),
      Escape: () => { if (["diff", "trace"].includes(page())) history.back(); },
      Enter: () => press(item?.querySelector("[data-open],[data-trace]")),
    };
    if (/^[1-6]$/.test(key)) { event.preventDefault(); return go(`/${pages[Number(key) - 1]}`); }
    // Enter on a link or a button is theirs.
    if (key === "Enter" && event.target !== item) return;
    if (acts[key]) { event.preventDefault(); acts[key](); }
  });

  start();
})();
