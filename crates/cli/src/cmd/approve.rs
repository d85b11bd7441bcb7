//! `steadfast approve` and `steadfast deny`: a person's word on one exact call.

use crate::args::{Command, Plain};
use crate::exit::{Exit, Failure};
use crate::output::{Shell, printable};
use crate::state::{StoreArgs, block_on, failure, now, shown_time, wait};
use crate::terminal::Terminal;
use serde_json::{Value, json};
use store::approver::{self, ApproverKey, Unchosen};
use store::{Access, Approval, ApprovalId, Ruling, Sqlite, Store};

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct Approve {
    /// The approval; without it, those that wait are listed
    #[arg(value_name = "ID")]
    id: Option<String>,
    #[command(flatten)]
    by: By,
    /// How the list is written
    #[arg(long, value_enum, default_value_t = Plain::Text)]
    format: Plain,
}

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct Deny {
    /// The approval
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    by: By,
}

#[derive(Debug, clap::Args)]
struct By {
    /// The approver, where the keys of several are on this machine
    #[arg(long = "as", value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    store: StoreArgs,
}

impl Command for Approve {
    const NAME: &'static str = "approve";
    const ABOUT: &'static str = "Approve one call that waits for a person, or list those that wait";
    const EXAMPLES: &'static str = "\
Shows which objects the call acts on, how many, over what it waits, and what differs from the
last call of this tool that was approved. The approval is signed with your key, whose passphrase
is read from the terminal; it covers exactly this call, once, and is void when the tool changes.
The beginning of an ID is enough where it names one.

Exit codes: 0 listed, approved · 2 wrong use, or nothing that could be approved

Examples:
  steadfast approve
  steadfast approve 019adf3c
  steadfast approve --format json";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let Some(id) = &self.id else { return self.list(shell) };
        let store = self.by.store.open(Access::Command)?;
        let waiting = named(&store, id)?;
        shell.print(&card_in_words(&waiting))?;
        let name = self.by.approver(&store)?;
        let path = self.by.store.path()?;
        let mut terminal = Terminal::open()?;
        let passphrase =
            terminal.passphrase(&format!("Passphrase of {name} to approve this call once: "))?;
        let key = ApproverKey::open(&path, &name, &passphrase).map_err(|e| failure(&path, &e))?;
        let said = approver::say(&store, &waiting, Ruling::Approved, &name, Some(&key), now());
        block_on(said).map_err(|error| failure(&path, &error))?;
        shell.print(&format!("approved {}: it covers this call once\n", waiting.id))?;
        Ok(Exit::Fine)
    }
}

impl Command for Deny {
    const NAME: &'static str = "deny";
    const ABOUT: &'static str = "Deny one call that waits for a person";
    const EXAMPLES: &'static str = "\
The client is told that a person said no. Needs no passphrase: a denial lets nothing through.

Examples:
  steadfast deny 019adf3c";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let store = self.by.store.open(Access::Command)?;
        let waiting = named(&store, &self.id)?;
        let by = self.by.approver(&store)?;
        let path = self.by.store.path()?;
        let said = approver::say(&store, &waiting, Ruling::Denied, &by, None, now());
        block_on(said).map_err(|error| failure(&path, &error))?;
        shell.print(&format!("denied {}\n", waiting.id))?;
        Ok(Exit::Fine)
    }
}

impl Approve {
    fn list(&self, shell: &Shell) -> Result<Exit, Failure> {
        let store = self.by.store.open(Access::Read)?;
        let waiting = wait(store.pending(now()))?;
        shell.print(&match self.format {
            Plain::Text if waiting.is_empty() => "nothing waits for a person\n".to_owned(),
            Plain::Text => waiting.iter().map(card_in_words).collect::<Vec<_>>().join("\n"),
            Plain::Json => {
                let waiting: Vec<Value> = waiting.iter().map(object).collect();
                format!("{:#}\n", json!({ "waiting": waiting }))
            }
        })?;
        Ok(Exit::Fine)
    }
}

impl By {
    /// Whose key is used: the one that is named, or the only one that is here.
    fn approver(&self, store: &Sqlite) -> Result<String, Failure> {
        chosen(store, &self.store, self.name.as_deref())?
            .map_err(|why| unchosen(why, self.name.as_deref()))
    }
}

/// Whose key is used, or why nobody's is.
pub fn chosen(
    store: &Sqlite,
    at: &StoreArgs,
    name: Option<&str>,
) -> Result<Result<String, Unchosen>, Failure> {
    let path = at.path()?;
    block_on(approver::chosen(store, &path, name)).map_err(|error| failure(&path, &error))
}

/// Why there is no approver, and what to do.
pub fn unchosen(why: Unchosen, name: Option<&str>) -> Failure {
    match why {
        Unchosen::Unknown => Failure::one(
            printable(name.unwrap_or_default()),
            "No approver of this name is enrolled.",
            "See who is: steadfast approver list.",
        ),
        Unchosen::None => Failure::one(
            "--as",
            "The key of no approver is on this machine.",
            "Enrol one: steadfast approver enrol NAME.",
        ),
        Unchosen::Several => Failure::one(
            "--as",
            "The keys of several approvers are on this machine.",
            "Say who you are: --as NAME.",
        ),
    }
}

/// The waiting approval with this id, or whose id alone begins so.
fn named(store: &Sqlite, id: &str) -> Result<Approval, Failure> {
    let waiting = wait(store.pending(now()))?;
    let mut like = waiting.into_iter().filter(|one| one.id.to_string().starts_with(id));
    match (like.next(), like.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => Err(Failure::one(
            printable(id),
            "The ids of several approvals that wait begin so.",
            "Write more of it.",
        )),
        (None, _) => {
            let known = id.parse::<ApprovalId>().ok();
            let known = known.map(|id| wait(store.approval(id))).transpose()?.flatten();
            Err(Failure::one(
                printable(id),
                match known {
                    Some(known) if known.state == store::ApprovalState::Pending => {
                        "The time to decide about it is over.".to_owned()
                    }
                    Some(known) => format!("It is {} already.", known.state),
                    None => "No approval of this id waits.".to_owned(),
                },
                "See what waits: steadfast approve.",
            ))
        }
    }
}

fn card(waiting: &Approval) -> Option<Value> {
    waiting.card.as_deref().and_then(|card| serde_json::from_str(card).ok())
}

/// The documented form: docs/approvals.md.
fn object(waiting: &Approval) -> Value {
    json!({
        "id": waiting.id.to_string(),
        "request": waiting.request.to_string(),
        "session": waiting.session.to_string(),
        "principal": waiting.principal,
        "server": waiting.server,
        "tool": waiting.tool,
        "revision": waiting.revision,
        "asked_at": shown_time(waiting.at),
        "expires_at": shown_time(waiting.expires),
        "card": card(waiting),
    })
}

/// The evidence for a person, compact. What clients and servers said stands in quotes, escaped.
fn card_in_words(waiting: &Approval) -> String {
    let mut text = format!(
        "{}\n  asked {} by {}, until {}\n",
        waiting.id,
        shown_time(waiting.at),
        quoted(&waiting.principal),
        shown_time(waiting.expires)
    );
    let Some(card) = card(waiting) else {
        text.push_str("  what it is about was erased: it cannot be judged any more\n");
        return text;
    };
    let word = |name: &str| card[name].as_str().unwrap_or_default();
    let count = card["objects"].as_u64().unwrap_or(1);
    let objects = if count == 1 { "1 object".to_owned() } else { format!("{count} objects") };
    text.push_str(&format!(
        "  tool        {} of {}\n  mode        {} on {objects}\n",
        quoted(word("tool")),
        quoted(word("server")),
        word("mode"),
    ));
    let rows = |name: &str| card[name].as_array().map_or(&[][..], Vec::as_slice);
    for target in rows("targets") {
        text.push_str(&format!("  target      {}\n", pair(target)));
    }
    if let Some(ids) = card["ids"].as_object() {
        let first = ids["first"].as_array().map_or(&[][..], Vec::as_slice);
        let first: Vec<String> = first.iter().filter_map(Value::as_str).map(printable).collect();
        text.push_str(&format!(
            "  first ids   {}; all {}: {}\n",
            first.join(", "),
            ids["count"],
            ids["digest"].as_str().unwrap_or_default()
        ));
    }
    for from in rows("eligible") {
        let member =
            from["member"].as_str().map_or(String::new(), |m| format!("{} of ", quoted(m)));
        text.push_str(&format!(
            "  eligible    {}, from {member}{}\n",
            pair(from),
            quoted(from["tool"].as_str().unwrap_or_default())
        ));
    }
    if let Some(sends) = card["sends"].as_object() {
        text.push_str(&sent_in_words(sends));
    }
    if let Some(reversible) = card["reversible"].as_str() {
        text.push_str(&format!("  reversible  {reversible}\n"));
    }
    text.push_str(&format!("  waits over  {}\n", word("reason")));
    for moved in rows("moved") {
        let field =
            moved["field"].as_str().map_or(String::new(), |field| format!("{}: ", quoted(field)));
        text.push_str(&format!(
            "              {field}{} ({})\n",
            printable(moved["what"].as_str().unwrap_or_default()),
            moved["rule"].as_str().unwrap_or_default()
        ));
    }
    match card["differs"].as_array().map(Vec::as_slice) {
        None => text.push_str("  last time   no call of this tool was approved before\n"),
        Some([]) => text.push_str("  last time   the same arguments were approved\n"),
        Some(differs) => {
            for one in differs {
                let shown = |name: &str| one[name].as_str().map_or("nothing".to_owned(), printable);
                text.push_str(&format!(
                    "  differs     {}: was {}, is {}\n",
                    quoted(one["field"].as_str().unwrap_or_default()),
                    shown("before"),
                    shown("after")
                ));
            }
        }
    }
    let targets = rows("targets");
    for argument in rows("arguments").iter().filter(|argument| !targets.contains(argument)) {
        text.push_str(&format!("  argument    {}\n", pair(argument)));
    }
    if let Some(more) = card["more_arguments"].as_u64().filter(|more| *more > 0) {
        text.push_str(&format!("  and {more} more arguments\n"));
    }
    if let Some(says) = card["says"].as_str() {
        text.push_str(&format!("  server says {}\n", quoted(says)));
    }
    if !rows("adapted_by").is_empty() {
        let by: Vec<&str> = rows("adapted_by").iter().filter_map(Value::as_str).collect();
        text.push_str(&format!("  written by  {}\n", printable(&by.join(", "))));
    }
    text.push_str(
        "  Names and values are what the agent and the server say; nobody checked them.\n",
    );
    text
}

/// What a bound action would send: each part on a line of its own.
fn sent_in_words(sends: &serde_json::Map<String, Value>) -> String {
    let word = |name: &str| printable(sends.get(name).and_then(Value::as_str).unwrap_or_default());
    let mut text =
        format!("  sends       {} {}{}\n", word("method"), word("origin"), word("target"));
    text.push_str(&match sends.get("credential").and_then(Value::as_str) {
        Some(label) => {
            let version = sends.get("credential_version").and_then(Value::as_u64).unwrap_or(0);
            format!("  credential  {}, version {version}\n", quoted(label))
        }
        None => "  credential  none\n".to_owned(),
    });
    let body = sends.get("body").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for row in body {
        text.push_str(&format!("  body        {}\n", pair(row)));
    }
    if let Some(more) = sends.get("more_body").and_then(Value::as_u64).filter(|more| *more > 0) {
        text.push_str(&format!("  and {more} more values in the body\n"));
    }
    text
}

fn pair(row: &Value) -> String {
    format!(
        "{} = {}",
        quoted(row["field"].as_str().unwrap_or_default()),
        printable(row["value"].as_str().unwrap_or_default())
    )
}

/// A text of someone else: in quotes, and harmless on a terminal.
fn quoted(text: &str) -> String {
    printable(&Value::from(text).to_string())
}
