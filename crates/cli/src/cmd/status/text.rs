//! The status for people.

use crate::output::printable;
use crate::state::{now, shown_time};
use gateway::status::{
    AdapterStatus, Execution, GrantedStatus, Remembered, RevisionStatus, SessionStatus,
    SnapshotStatus, Status, ToolStatus,
};

/// Digits of a digest that tell two revisions of one tool apart.
const DIGITS: usize = 12;

/// All of it. With `whole`, tools of which there is nothing to say are shown as well.
pub fn words(running: &[Status], remembered: &[Remembered], whole: bool) -> String {
    let mut text = String::new();
    for status in running {
        for one in &status.sessions {
            session(one, status.pid, whole, &mut text);
        }
        if status.more_sessions > 0 {
            text.push_str(&format!(
                "{} more sessions: name a server to see them\n\n",
                status.more_sessions
            ));
        }
        for adapter in &status.adapters {
            adapted(adapter, &mut text);
        }
        if !status.adapters.is_empty() {
            text.push('\n');
        }
    }
    for one in remembered {
        asleep(one, whole, &mut text);
    }
    if text.is_empty() {
        text.push_str("no server was guarded with this store yet\n");
    }
    text.trim_end_matches('\n').to_owned() + "\n"
}

fn session(one: &SessionStatus, pid: u32, whole: bool, text: &mut String) {
    let observing = if one.observe { "  only observing" } else { "" };
    text.push_str(&format!(
        "{}\n  session     {}  {}  {}  process {pid}{observing}\n",
        printable(&one.server),
        one.session,
        printable(&one.principal),
        one.era,
    ));
    let health = &one.upstream;
    let mut parts = vec![if health.running { "running" } else { "not running" }.to_owned()];
    if !health.running && health.tries > 1 {
        let again =
            health.next_start_ms.map_or("now".to_owned(), |ms| format!("in {} s", ms / 1_000 + 1));
        parts.push(format!("ended {} times in a row, may start again {again}", health.tries));
    }
    if health.starts > 1 {
        parts.push(format!("started {} times", health.starts));
    }
    parts.push(match health.verified_ms_ago {
        Some(age) => format!("list verified {} ago", span(age)),
        None => "list not verified".to_owned(),
    });
    text.push_str(&format!("  server      {}\n", parts.join(", ")));
    for (what, why) in [
        ("fault", &health.fault),
        ("instructions", &health.instructions),
        ("last ended", &health.last_end),
    ] {
        if let Some(why) = why {
            text.push_str(&format!("  {what:<10}  {}\n", printable(why)));
        }
    }
    let quiet = |tool: &&ToolStatus| !whole && settled(tool);
    let calm: Vec<String> = one.tools.iter().filter(quiet).map(|t| printable(&t.tool)).collect();
    for tool in one.tools.iter().filter(|tool| !quiet(tool)) {
        self::tool(tool, text);
    }
    if !calm.is_empty() {
        let what =
            if calm.len() == 1 { "1 tool".to_owned() } else { format!("{} tools", calm.len()) };
        text.push_str(&format!("  {what} as granted: {}\n", calm.join(", ")));
    }
    if one.more_tools > 0 {
        text.push_str(&format!("  {} more tools: name one to see it\n", one.more_tools));
    }
    text.push('\n');
}

/// True where advertised, shown and granted are one contract, and nothing was stopped.
fn settled(tool: &ToolStatus) -> bool {
    let ([advertised], Some(granted)) = (tool.advertised.as_slice(), &tool.granted) else {
        return false;
    };
    let digest = &advertised.digest;
    let shown = tool.snapshot.as_ref().is_none_or(|snapshot| {
        snapshot.last.as_ref().is_some_and(|last| last.digest == *digest) && !snapshot.held_back
    });
    shown
        && granted.revision.digest == *digest
        && tool.execution.decision == "forward"
        && tool.calls.would.is_empty()
        && tool.calls.moved.is_empty()
}

fn tool(tool: &ToolStatus, text: &mut String) {
    text.push_str(&format!("  {}\n", printable(&tool.tool)));
    let advertised = match tool.advertised.as_slice() {
        [] => "nothing: the tool is gone".to_owned(),
        [one] => revision(one),
        several => {
            let several: Vec<String> = several.iter().map(revision).collect();
            format!("{} in turn", several.join(" and "))
        }
    };
    let alternates = if tool.alternates { "  alternates, as in a rolling deploy" } else { "" };
    text.push_str(&format!("    advertised  {advertised}{alternates}\n"));
    let snapshot = match &tool.snapshot {
        None => "nothing: the client has not fetched the list".to_owned(),
        Some(snapshot) => shown(snapshot),
    };
    text.push_str(&format!("    snapshot    {snapshot}\n"));
    text.push_str(&format!("    execution   {}\n", runs(&tool.execution)));
    text.push_str(&format!(
        "    granted     {}\n",
        granted(tool.granted.as_ref(), &tool.advertised)
    ));
    if let Some(last) = &tool.calls.last {
        let code = last.code.as_ref().map_or(String::new(), |code| format!(" {code}"));
        let by = if last.by.is_empty() {
            String::new()
        } else {
            format!(" by {}", printable(&last.by.join(", ")))
        };
        let under =
            last.ran_under.as_ref().map_or(String::new(), |d| format!(" under {}", short(d)));
        text.push_str(&format!(
            "    last call   {}{code}{by}{under}, {} ago\n",
            last.decision,
            span(now().saturating_sub(last.at))
        ));
    }
    for (code, times) in &tool.calls.would {
        let times = if *times == 1 { "1 call".to_owned() } else { format!("{times} calls") };
        text.push_str(&format!("    observed    {times} would have been stopped: {code}\n"));
    }
    for moved in &tool.calls.moved {
        text.push_str(&format!("    answers     {}\n", printable(moved)));
    }
}

fn shown(snapshot: &SnapshotStatus) -> String {
    let last = match &snapshot.last {
        Some(last) => revision(last),
        None => "nothing in the last list".to_owned(),
    };
    let age = span(now().saturating_sub(snapshot.shown_at));
    let mut text = format!("{last}  shown {age} ago, known by {}", snapshot.grade);
    let earlier: Vec<String> = snapshot
        .candidates
        .iter()
        .filter(|c| Some(*c) != snapshot.last.as_ref())
        .map(revision)
        .collect();
    if !earlier.is_empty() {
        text.push_str(&format!("; calls may still come from {}", earlier.join(", ")));
    }
    if snapshot.held_back {
        text.push_str("; newer wording is held back");
    }
    text
}

fn runs(execution: &Execution) -> String {
    let code = execution.code.as_ref().map_or(String::new(), |code| format!(" {code}"));
    let by = match execution.by.as_slice() {
        [] => String::new(),
        by => format!(" by {}", printable(&by.join(", "))),
    };
    let over = match execution.over.as_slice() {
        [] => String::new(),
        over => format!(" over {}", printable(&over.join(", "))),
    };
    let rules = match execution.rules.as_slice() {
        [] => String::new(),
        rules => format!(" ({})", rules.join(", ")),
    };
    let under: Vec<String> = execution.runs_under.iter().map(|digest| short(digest)).collect();
    let under =
        if under.is_empty() { String::new() } else { format!("  under {}", under.join(", ")) };
    format!("{}{code}{by}{over}{rules}{under}", execution.decision)
}

fn granted(granted: Option<&GrantedStatus>, advertised: &[RevisionStatus]) -> String {
    let Some(granted) = granted else { return "nothing".to_owned() };
    let mut text = format!(
        "{}  {} by {} at {}",
        revision(&granted.revision),
        granted.how,
        printable(&granted.by),
        shown_time(granted.at)
    );
    if let Some(gone) = granted.gone_at {
        text.push_str(&format!(
            "; the name was gone at {}, so it covers this very contract alone",
            shown_time(gone)
        ));
    }
    let same = advertised.iter().all(|one| one.digest == granted.revision.digest);
    if !same {
        text.push_str("; what is live is not granted");
    }
    text
}

fn adapted(adapter: &AdapterStatus, text: &mut String) {
    let tools = if adapter.tool == adapter.to {
        printable(&adapter.tool)
    } else {
        format!("{} → {}", printable(&adapter.tool), printable(&adapter.to))
    };
    let uses = match (adapter.uses, adapter.last_used_at) {
        (0, _) | (_, None) => "not used yet".to_owned(),
        (1, Some(at)) => format!("used once, {}", shown_time(at)),
        (uses, Some(at)) => format!("used {uses} times, last {}", shown_time(at)),
    };
    text.push_str(&format!(
        "adapter {}  {tools}  {uses}; ends {}\n",
        printable(&adapter.id),
        printable(&adapter.ends)
    ));
    if let Some(why) = &adapter.refuted {
        text.push_str(&format!("  refuted, and carries no such call: {}\n", printable(why)));
    }
}

fn asleep(one: &Remembered, whole: bool, text: &mut String) {
    let seen = one.last_seen_at.map_or("its list was never read".to_owned(), |at| {
        format!("its list was last seen to move at {}", shown_time(at))
    });
    text.push_str(&format!("{}\n  no session runs; {seen}\n", printable(&one.server)));
    let same = |tool: &gateway::status::RememberedTool| {
        let granted = tool.granted.as_ref().map(|granted| &granted.revision.digest);
        !whole && granted.is_some() && tool.advertised.as_ref().map(|a| &a.digest) == granted
    };
    for tool in one.tools.iter().filter(|tool| !same(tool)) {
        let advertised: Vec<RevisionStatus> = tool.advertised.iter().cloned().collect();
        let listed = advertised.first().map_or("nothing".to_owned(), revision);
        text.push_str(&format!(
            "  {}\n    advertised  {listed}\n    granted     {}\n",
            printable(&tool.tool),
            granted(tool.granted.as_ref(), &advertised)
        ));
    }
    let calm: Vec<String> =
        one.tools.iter().filter(|tool| same(tool)).map(|tool| printable(&tool.tool)).collect();
    if !calm.is_empty() {
        let what =
            if calm.len() == 1 { "1 tool".to_owned() } else { format!("{} tools", calm.len()) };
        text.push_str(&format!("  {what} as granted: {}\n", calm.join(", ")));
    }
    text.push('\n');
}

fn revision(one: &RevisionStatus) -> String {
    match one.ordinal {
        Some(ordinal) => format!("#{ordinal} {}", short(&one.digest)),
        None => short(&one.digest),
    }
}

/// The start of a digest.
fn short(digest: &str) -> String {
    let digits = digest.strip_prefix("sha256:").unwrap_or(digest);
    printable(&digits.chars().take(DIGITS).collect::<String>())
}

/// A span of milliseconds in the unit that people would use.
fn span(millis: u64) -> String {
    match millis / 1000 {
        0..120 => format!("{} s", millis / 1000),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds @ 7_200..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    }
}
