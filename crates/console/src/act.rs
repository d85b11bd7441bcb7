//! What a person does here. Each act is one that a command does, on the store as a command opens it; what was shown is
//! named by its digest, so that nothing else is decided about than what was on the page.

use crate::{Approver, Console, html, limits, lock};
use gateway::accept::{grant, is_open};
use gateway::event;
use gateway::status::{Filter, RememberedTool, remembered};
use serde_json::Value;
use std::sync::Arc;
use store::approver;
use store::journal::{Report, Trust, export, verify_store};
use store::{
    Access, ApprovalId, ApprovalState, AttemptId, Millis, Options, Resolution, Ruling, Sqlite,
    Store, StoreError,
};

/// Why an act was not done.
pub enum No {
    /// There is no such act.
    Unknown,
    /// Nobody here may decide.
    ReadOnly(String),
    /// It cannot be done, or not any more.
    Refused(String),
}

impl From<StoreError> for No {
    fn from(error: StoreError) -> No {
        No::Refused(error.to_string())
    }
}

fn no<T>(why: impl Into<String>) -> Result<T, No> {
    Err(No::Refused(why.into()))
}

/// The last verification.
#[derive(Default)]
pub struct Verification {
    /// Records that were read, while one runs.
    pub running: Option<u64>,
    /// When the last one ended, and what it found.
    pub last: Option<(Millis, Result<Report, String>)>,
}

/// Does what is asked, and says what was done.
pub async fn done(console: &Arc<Console>, act: &str, asked: &Value) -> Result<String, No> {
    let word = |name: &str| asked[name].as_str().unwrap_or_default();
    match act {
        "verify" => return Ok(verify(console)),
        "approve" | "deny" | "accept" | "resolve" | "export" => {}
        _ => return Err(No::Unknown),
    }
    let decider = console.config.approver.as_ref().map_err(|why| No::ReadOnly(why.clone()))?;
    let _one = console.acts.lock().await;
    let store = open(console)?;
    let said = match act {
        "approve" => {
            settle(&store, decider, Ruling::Approved, word("id"), word("action_digest")).await?
        }
        "deny" => {
            settle(&store, decider, Ruling::Denied, word("id"), word("action_digest")).await?
        }
        "accept" => accept(&store, &decider.name, asked).await?,
        "resolve" => {
            let found = Resolution::from_word(word("found"));
            let (Ok(attempt), Some(found)) = (word("attempt").parse::<AttemptId>(), found) else {
                return no("Say which attempt, and whether it is `done` or `failed`.");
            };
            store.resolve(attempt, found, decider.name.clone(), event::now()).await?;
            format!("{attempt} recorded as {found}")
        }
        _ => exported(console, &store).await?,
    };
    // Closing a store waits for its threads and signs the journal.
    let closed = tokio::task::spawn_blocking(move || drop(store)).await;
    debug_assert!(closed.is_ok(), "closing does not panic");
    console.tell();
    Ok(said)
}

/// Opens the store as a command does, for one act.
fn open(console: &Console) -> Result<Sqlite, No> {
    Ok(Sqlite::open(&console.config.path, Options::new(Access::Command, event::now()))?)
}

/// Puts the approver's word about one call on record.
async fn settle(
    store: &Sqlite,
    decider: &Approver,
    ruling: Ruling,
    id: &str,
    shown: &str,
) -> Result<String, No> {
    let known = match id.parse::<ApprovalId>() {
        Ok(id) => store.approval(id).await?,
        Err(_) => None,
    };
    let Some(waiting) = known else { return no("No approval of this id waits.") };
    if waiting.state != ApprovalState::Pending {
        return no(format!("It is {} already. Nothing was decided.", waiting.state));
    }
    let now = event::now();
    if waiting.expires <= now {
        return no("The time to decide about it is over. Nothing was decided.");
    }
    // The signature covers the action of the store; this holds it to the one that was on the page.
    if waiting.action_digest != shown || shown.is_empty() {
        return no("What waits is not what was shown. Look again; nothing was decided.");
    }
    if waiting.card.is_none() && ruling == Ruling::Approved {
        return no("What it is about was erased: it cannot be judged any more.");
    }
    let key = (ruling == Ruling::Approved).then_some(&decider.key);
    approver::say(store, &waiting, ruling, &decider.name, key, now).await?;
    Ok(match ruling {
        Ruling::Approved => format!("approved {id}: it covers this call once"),
        Ruling::Denied => format!("denied {id}"),
    })
}

/// Grants what is listed, where it is still what was shown.
async fn accept(store: &Sqlite, by: &str, asked: &Value) -> Result<String, No> {
    let word = |name: &str| asked[name].as_str().unwrap_or_default();
    let filter = Filter { server: Some(word("server").into()), tool: Some(word("tool").into()) };
    let all = remembered(store, &filter).await?;
    let Some(known) = all.into_iter().find(|known| known.scope == word("scope")) else {
        return no("No server of this name is known in this scope.");
    };
    let listed: Vec<&RememberedTool> = known.tools.iter().filter(|tool| is_open(tool)).collect();
    let [tool] = listed.as_slice() else {
        return no("There is nothing of it to accept: it is granted already, or no longer listed.");
    };
    let live = tool.advertised.as_ref().map_or("", |advertised| advertised.digest.as_str());
    if live != word("digest") {
        return no(
            "The server lists another contract than was shown. Look again; nothing was accepted.",
        );
    }
    grant(store, &known, &listed, by, event::now()).await?;
    Ok(format!("accepted: {}", tool.tool))
}

/// Writes the journal into a new folder below the one that the console was started with.
async fn exported(console: &Console, store: &Sqlite) -> Result<String, No> {
    let at = html::iso(event::now()).replace([':', '.'], "-");
    let mut names = (0..limits::EXPORTS).map(|n| match n {
        0 => format!("journal-{at}"),
        n => format!("journal-{at}-{n}"),
    });
    let folder = names.by_ref().map(|name| console.config.exports.join(name)).find(|f| !f.exists());
    let Some(folder) = folder else { return no("Too many exports were made just now.") };
    let exported = export(store, &folder).await?;
    Ok(format!(
        "{} written: {}, {} covered by the checkpoint. Keep key.pub and checkpoint where nobody who can write to the store can reach them.",
        folder.display(),
        html::count(exported.records, "record"),
        exported.signed
    ))
}

/// Starts a verification where none runs; its report is on the page of the journal when it ends.
fn verify(console: &Arc<Console>) -> String {
    let mut state = lock(&console.verified);
    if state.running.is_some() {
        return "it is being verified already".to_owned();
    }
    state.running = Some(0);
    drop(state);
    let console = Arc::clone(console);
    // It hashes for seconds where the journal is long: not where pages are drawn.
    tokio::task::spawn_blocking(move || {
        let mut told = 0;
        let progress = |read: u64| {
            lock(&console.verified).running = Some(read);
            if read >= told + limits::VERIFIED_TOLD {
                told = read;
                console.tell();
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let report = match runtime {
            Ok(runtime) => runtime
                .block_on(verify_store(console.store(), &Trust::default(), progress))
                .map_err(|why| why.to_string()),
            Err(why) => Err(format!("this machine gave no resources: {why}")),
        };
        *lock(&console.verified) =
            Verification { running: None, last: Some((event::now(), report)) };
        console.tell();
    });
    "the journal is being verified".to_owned()
}
