//! One `tools/call`, from the client to the server and back.

mod again;
mod answer;
mod approval;
mod books;
mod card;
mod deed;
mod depends;
mod exact;
mod key;
mod owed;
mod proven;
mod rounds;
mod send;
mod shape;
mod stop;
mod task;

pub(crate) use depends::Relied;
pub(crate) use exact::question;
pub(crate) use owed::Owed;
pub(crate) use proven::Proven;
pub(crate) use rounds::Rounds;
pub(crate) use shape::Seen;
pub(crate) use task::{About, Deferred, Later, Minted, Tasks};

use crate::event;
use crate::heavy::heavy;
use crate::refusal;
use crate::session::{Session, Standing};
use crate::upstream::Epoch;
use crate::view::Refused;
use contract::Revised;
use contract::admission::{
    Action, Adapted, Code, Decision, Facts, Fault, Grade, Ground, Refusal, Retry, decide,
};
use contract::policy::is_free_form;
use mcp::Era;
use mcp::message::{self, Id, Kind, Message};
use send::send;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::Arc;
use store::{RequestId, Verdict};
use tokio::sync::oneshot;
use tokio::time::Instant;

/// The argument by which a caller says that it read a refusal.
pub const ACKNOWLEDGE: &str = "steadfast_ack";

/// A call as it came.
pub struct Call {
    /// The whole message.
    pub message: Message,
    /// Its id.
    pub id: Id,
    /// The tool.
    pub tool: String,
    /// Its arguments, without the token of a refusal. An object.
    pub arguments: Value,
    /// The token.
    token: Option<String>,
    /// When it was read: what the client was told later is not what it knew.
    arrived: Instant,
}

/// The right to be the next call that is decided and sent. Dropped when the call has left, or will not.
pub struct Turn(#[expect(dead_code, reason = "dropping it is the message")] oneshot::Sender<()>);

impl Turn {
    /// A turn, and what resolves when it ends.
    pub fn new() -> (Turn, oneshot::Receiver<()>) {
        let (sender, ended) = oneshot::channel();
        (Turn(sender), ended)
    }
}

impl Call {
    /// Reads a `tools/call`.
    ///
    /// # Errors
    /// Where its parameters cannot be judged, in a sentence: what cannot be judged is not sent.
    pub fn read(message: &Message) -> Result<Call, String> {
        let Kind::Request { id, .. } = message.kind() else {
            return Err("a call wants an answer".to_owned());
        };
        let raw = message.params().ok_or("there are no params")?;
        if !mcp::json::flaws(raw, mcp::limits::DEPTH, 1).is_empty() {
            return Err(
                "params name a member twice, nest too deep, or hold half a character".to_owned()
            );
        }
        let params: Map<String, Value> =
            serde_json::from_str(raw).map_err(|why| format!("params cannot be read: {why}"))?;
        let tool = params.get("name").and_then(Value::as_str);
        let tool = tool.ok_or("params name no tool")?.to_owned();
        let mut arguments = match params.get("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments.clone(),
            Some(_) => return Err("arguments are no object".to_owned()),
        };
        let token = match arguments.get(ACKNOWLEDGE) {
            Some(Value::String(_)) => arguments.shift_remove(ACKNOWLEDGE),
            _ => None,
        };
        let token = token.and_then(|token| token.as_str().map(str::to_owned));
        let arguments = Value::Object(arguments);
        let arrived = Instant::now();
        Ok(Call { message: message.clone(), id: id.clone(), tool, arguments, token, arrived })
    }

    /// The digest of the arguments without some of them.
    fn digest_without(&self, free: &[String]) -> String {
        let Value::Object(members) = &self.arguments else {
            return contract::digest::of_value(&self.arguments);
        };
        let rest: Map<String, Value> = members
            .iter()
            .filter(|(name, _)| !free.contains(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        contract::digest::of_value(&Value::Object(rest))
    }

    /// The message with another tool or other arguments; the one that came where neither differs from it. `None` where
    /// it cannot be written: then nothing is sent.
    fn rewritten(&self, tool: &str, arguments: &Value) -> Option<Message> {
        if self.token.is_none() && tool == self.tool && *arguments == self.arguments {
            return Some(self.message.clone());
        }
        // What no step touched stays as the client spelled it: numbers, characters, and members that nobody knows.
        let params = self.message.params()?;
        let text = params.trim();
        let written = mcp::json::find(text, &["arguments"]);
        let spelled = written.filter(|written| written.starts_with('{')).unwrap_or("{}");
        let old: Value = serde_json::from_str(spelled).ok()?;
        let arguments = mcp::json::respell(spelled, &old, arguments);
        let name = Value::from(tool).to_string();
        let mut edits: Vec<(&[&str], &str)> = Vec::new();
        if tool != self.tool {
            edits.push((&["name"], &name));
        }
        edits.push((&["arguments"], &arguments));
        let mut new = mcp::json::replace(text, &edits);
        if written.is_none() {
            let open = new.strip_suffix('}')?.to_owned();
            new = format!("{open},\"arguments\":{arguments}}}");
        }
        Message::parse(&mcp::json::replace(self.message.text(), &[(&["params"], &new)])).ok()
    }
}

/// What was captured at admission. Nothing is read again after it.
#[derive(Clone)]
struct Plan {
    /// The connection that it was decided about.
    epoch: Epoch,
    request: RequestId,
    ground: Ground,
    /// The definitions that the answer is measured by: the one that the call was judged under first, then the others that the
    /// client may have planned with.
    planned: Vec<Arc<Revised>>,
    live: Vec<Arc<Revised>>,
    shown_output: bool,
    /// What is live is what was granted.
    accepted: bool,
    /// The adapters that carry the call.
    by: Vec<String>,
    /// The key by which the server knows the request.
    key: Option<key::Bound>,
    era: Era,
}

/// What a call is decided by, as far as it is not part of the call.
struct Acquainted {
    /// What the caller may have planned with.
    candidates: Vec<Arc<Revised>>,
    grade: Grade,
    live: Vec<Arc<Revised>>,
    /// Kept revisions in the order of time, where conversions over several of them may be declared.
    history: Vec<Arc<Revised>>,
    /// What this client was shown of the tool at any time.
    earlier: Vec<Arc<Revised>>,
    granted: Option<Arc<Revised>>,
    /// What was granted of a name that came back as something else.
    lapsed: Option<Arc<Revised>>,
    /// The candidates are not all that there may be.
    crowded: bool,
    verified: bool,
    /// The arguments with what the gateway fills in, where that is more than what came.
    filled: Option<Value>,
    /// The live revision that the caller says it knows.
    acknowledged: Option<String>,
}

impl Acquainted {
    /// True where nothing moved, so that nothing has to be compared.
    fn is_light(&self) -> bool {
        let [live] = &self.live[..] else { return false };
        let same = |revised: &Arc<Revised>| revised.digest() == live.digest();
        !self.candidates.is_empty()
            && self.lapsed.is_none()
            && self.candidates.iter().chain(&self.earlier).all(same)
            && self.granted.as_ref().is_none_or(same)
    }

    fn decide(&self, session: &Session, call: &Call) -> Decision {
        let heir = session.heir(&call.tool, &self.candidates);
        let speech = session.upstream().speech();
        let facts = Facts {
            server: session.upstream().name(),
            server_version: speech.server_version.as_deref(),
            name: &call.tool,
            arguments: self.filled.as_ref().unwrap_or(&call.arguments),
            candidates: &self.candidates,
            earlier: &self.earlier,
            grade: self.grade,
            live: &self.live,
            history: &self.history,
            granted: self.granted.as_ref(),
            lapsed: self.lapsed.as_ref(),
            crowded: self.crowded,
            verified: self.verified,
            acknowledged: self.acknowledged.as_deref(),
            twice: session.upstream().lists_twice(&call.tool),
            heir: heir.as_deref(),
            configured_read: session.settings().is_read(&call.tool),
            policy: session.settings().policy,
            calls: session.settings().rules(&call.tool),
            principal: session.principal(),
            free_form: is_free_form(
                &session.comparisons().options().lexicon,
                self.filled.as_ref().unwrap_or(&call.arguments),
            ),
        };
        decide(&facts, session.comparisons(), session.adapters())
    }
}

/// The decision. What has to be compared or proved for it may take a second, and is done beside the messages.
async fn decided(
    session: &Arc<Session>,
    call: &Arc<Call>,
    acquainted: Acquainted,
) -> Result<(Decision, Acquainted), String> {
    if acquainted.is_light() {
        return Ok((acquainted.decide(session, call), acquainted));
    }
    let (session, call) = (Arc::clone(session), Arc::clone(call));
    heavy(move || (acquainted.decide(&session, &call), acquainted)).await
}

/// Carries one call.
pub async fn carry(session: Arc<Session>, call: Call, turn: Turn) {
    let call = Arc::new(call);
    let Some(turn) = owed::answered(&session, &call, turn).await else { return };
    if let Some(name) = rounds::continues(&call).filter(|_| !session.settings().observe) {
        return rounds::carry_on(session, call, name, turn).await;
    }
    // What holds now? A call that may have an effect demands to know.
    let Standing { live, epoch, verified } = session.standing(&call.tool, call.arrived).await;

    // What was the caller shown? What was accepted?
    let now = Instant::now();
    let digest = live.first().map_or("", |live| live.digest()).to_owned();
    let whole = call.digest_without(&[]);
    let (mut candidates, mut grade) =
        session.view().planned(&call.tool, &digest, Some(&whole), call.arrived);
    let mut earlier = session.view().earlier(&call.tool);
    // Nothing was shown here: everything that was listed of late may be what the caller knows. Where old calls are or
    // were carried over, some client still makes them, whatever its session was shown.
    if candidates.is_empty() && grade != Grade::Declared && !live.is_empty() {
        // It was in no list that was shown here: that says nothing of what the caller knows from elsewhere.
        grade = Grade::None;
    }
    let mut crowded = session.view().lacks_some(&call.tool, &digest, &whole, call.arrived);
    if grade == Grade::None || session.adapters().converts(&call.tool) {
        let (kept, more) = match session.kept(&call.tool).await {
            Ok(kept) => kept,
            Err(why) => return session.broken(&call, turn, &why).await,
        };
        if grade == Grade::None {
            (candidates, crowded) = (kept, crowded || more);
        } else {
            earlier.extend(kept);
        }
    }
    let acknowledged = call.token.as_deref().and_then(|token| {
        session.view().redeem(token, &call.tool, |free| call.digest_without(free), now)
    });
    let nowhere = live.is_empty() && verified.is_ok();
    let unlisted = candidates.is_empty() && (nowhere || grade == Grade::Declared);
    if unlisted && !session.settings().observe {
        // Never listed: the protocol has its own answer for that.
        drop(turn);
        let why = format!("Unknown tool: {}", call.tool);
        return session.reply(&call.id, message::failure(&call.id, -32602, &why)).await;
    }
    let granted = match session.granted(&call.tool, &digest).await {
        Ok(granted) => granted,
        Err(why) => return session.broken(&call, turn, &why).await,
    };
    let history = match session.history(&call.tool, &candidates, &live).await {
        Ok(history) => history,
        Err(why) => return session.broken(&call, turn, &why).await,
    };
    let filled = key::stand_in(&session, &call, candidates.iter().chain(&live));
    let acquainted = Acquainted {
        filled,
        history,
        earlier,
        candidates,
        grade,
        live,
        granted: granted.stands,
        lapsed: granted.lapsed,
        crowded,
        verified: verified.is_ok(),
        acknowledged,
    };
    let (decision, acquainted) = match decided(&session, &call, acquainted).await {
        Ok(decided) => decided,
        Err(why) => return session.broken(&call, turn, &why).await,
    };
    let Acquainted { candidates, live, granted, .. } = acquainted;

    // The ground is on record before anything depends on it.
    let request = match session.new_request() {
        Ok(request) => request,
        Err(why) => return session.broken(&call, turn, &why).await,
    };
    let shown_output = candidates.iter().any(|c| c.describes_answers())
        || live.iter().any(|l| l.describes_answers());
    let (ground, verdict, adapted, refusal) = parts(decision);
    // Who only watches changes nothing: what would have been is told.
    let (would, adapted) =
        if session.settings().observe { (adapted, None) } else { (None, adapted) };
    let planned = answer::measures(&candidates, &live, &ground);
    let by = adapted.as_ref().map_or(Vec::new(), |adapted| adapted.by.clone());
    let key = key::of(&session, form(&call, adapted.as_ref()).0, request);
    let accepted = granted.as_ref().is_some_and(|granted| granted.digest() == digest);
    let mut plan = Arc::new(Plan {
        epoch,
        request,
        ground,
        planned,
        live,
        shown_output,
        accepted,
        by,
        key,
        era: session.era(),
    });
    let observed = session.settings().observe && refusal.is_some();
    // A call that a person may let pass is measured by these too.
    let may_leave = refusal.is_none() || verdict == Verdict::Held;
    // Refused for a reason of its own, with what is told.
    let stopped = if may_leave { stop::stops(&session, &call, &plan) } else { None };
    let (stopped, unstopped) =
        if session.settings().observe { (None, stopped) } else { (stopped, None) };
    let verdict = match (observed, &stopped) {
        (true, _) => Verdict::Admitted,
        (_, Some((code, _))) => Verdict::Refused { code: (*code).to_owned() },
        _ => verdict,
    };
    let own = stopped.as_ref().or(unstopped.as_ref()).map(|(code, _)| *code);
    let code = own.or(refusal.as_ref().map(|refusal| refusal.code.name()));
    let granted = granted.as_ref().map(|granted| granted.digest().to_owned());
    let record = plan.record(&call, granted, verdict, adapted.as_ref(), &session);
    session.tally(
        &call.tool,
        match (&record.verdict, code, adapted.as_ref().or(would.as_ref())) {
            (Verdict::Held, ..) => "hold",
            (_, Some(_), _) => "refuse",
            (_, None, Some(_)) => "adapt",
            (_, None, None) => "forward",
        },
        code,
        &plan.ground,
        &plan.by,
    );
    let (turn, refusal, unrecorded, approved) = match refusal {
        // A person decides about exactly this action.
        Some(why) if record.verdict == Verdict::Held => {
            let adapted = adapted.as_ref();
            match approval::word(&session, &call, &plan, record, &why, adapted, turn).await {
                Some((turn, epoch, approved)) => {
                    plan = plan.over(epoch);
                    (turn, None, None, approved)
                }
                None => return,
            }
        }
        // What leaves is recorded with its attempt.
        None if stopped.is_none() => (turn, None, Some(record), None),
        refusal => {
            if let Err(why) = session.decided(&record).await {
                return session.broken(&call, turn, &why).await;
            }
            (turn, refusal, None, None)
        }
    };
    if let Some((code, result)) = stopped {
        drop(turn);
        let sentence = format!("refused a call of {}: nothing was sent", call.tool);
        session.tell("refused", Some(&call.tool), Some(code), &sentence);
        return session.reply(&call.id, message::response(&call.id, &result)).await;
    }
    if let Some((code, _)) = unstopped {
        let sentence = format!("would have refused a call of {}", call.tool);
        session.tell("would-refuse", Some(&call.tool), Some(code), &sentence);
    }
    if let Some(refusal) = refusal {
        if !observed {
            drop(turn);
            return refuse(&session, &call, &plan, &candidates, refusal).await;
        }
        session.tell(
            "would-refuse",
            Some(&call.tool),
            Some(refusal.code.name()),
            &format!(
                "would have {} a call of {}{}",
                if refusal.code == Code::ApprovalRequired { "held" } else { "refused" },
                call.tool,
                match &plan.ground.rules[..] {
                    _ if unlisted => ", which is not listed".to_owned(),
                    [] => String::new(),
                    rules => format!(" ({})", rules.join(", ")),
                }
            ),
        );
    }
    if let Some(would) = would.filter(|_| !observed) {
        let sentence = format!(
            "would have carried an old call of {} over by {}",
            call.tool,
            would.by.join(", ")
        );
        session.tell("would-adapt", Some(&call.tool), None, &sentence);
    }
    if let Some(adapted) = &adapted {
        session.adapted(&call.tool, adapted, &plan.ground).await;
    }
    session.repaired(&call.tool, &plan.ground).await;
    key::tell_replaced(&session, &call);
    let (tool, arguments) = plan.sent(&call, adapted.as_ref());
    match exact::bound_to(call.rewritten(tool, &arguments), approved.as_deref()) {
        Some(message) => send(&session, &call, &plan, &message, unrecorded, turn).await,
        None => session.broken(&call, turn, "the call cannot be written in its new form").await,
    }
}

/// The tool and the arguments that are sent, but for the key.
fn form<'a>(call: &'a Call, adapted: Option<&'a Adapted>) -> (&'a str, &'a Value) {
    adapted.map_or((&call.tool, &call.arguments), |adapted| (&adapted.tool, &adapted.arguments))
}

/// Answers a call that is not carried out.
async fn refuse(
    session: &Session,
    call: &Call,
    plan: &Plan,
    candidates: &[Arc<Revised>],
    mut refusal: Refusal,
) {
    let top = |field: &String| field.split(['.', '[']).next().unwrap_or(field).to_owned();
    let mut free: Vec<String> = refusal.missing.iter().map(|(field, _)| top(field)).collect();
    free.extend(refusal.obsolete.iter().map(top));
    free.extend(refusal.changed.iter().filter_map(|fault| fault.field.as_ref()).map(top));
    let rest = call.digest_without(&free);
    let refused = Refused {
        tool: &call.tool,
        live: plan.live.first().map_or("", |live| live.digest()),
        whole: call.digest_without(&[]),
        free,
        rest,
        told: refusal.code.tells_what_moved(),
        planned: candidates.to_vec(),
    };
    // A list that was asked for while this was decided is none that followed the refusal.
    let (times, token) = session.view().refused(&refused, Instant::now());
    // While it goes back and forth, the same call may be judged otherwise in a moment.
    // A name that one list holds twice is another matter: no waiting tells which of the two is meant.
    let unsettled =
        refusal.code != Code::ToolAmbiguous && session.upstream().alternates(&call.tool);
    if unsettled {
        refusal.changed.push(Fault {
            rule: "revisions",
            field: None,
            what: "its definition goes back and forth between revisions; once it has held still for some minutes, or a person accepted it, the same call is judged by that one alone".to_owned(),
        });
    }
    let person = times >= crate::limits::REPEATS && !unsettled;
    if person {
        refusal.required_action = Action::Stop;
        refusal.retry = Retry::No;
    }
    let decides = refusal.code.tells_what_moved() || refusal.code == Code::InvalidArguments;
    let one = plan.live.len() == 1 && refusal.retry == Retry::NewDecision;
    let token = (decides && one).then_some(token);
    session.refused(&call.tool, &refusal, &plan.ground, person).await;
    let result = refusal::refused(&refusal, token.as_deref(), !plan.shown_output, plan.era);
    session.reply(&call.id, message::response(&call.id, &result)).await;
}

/// A decision in its parts.
fn parts(decision: Decision) -> (Ground, Verdict, Option<Adapted>, Option<Refusal>) {
    let code = |refusal: &Refusal| Verdict::Refused { code: refusal.code.name().to_owned() };
    match decision {
        Decision::Forward(ground) => (ground, Verdict::Admitted, None, None),
        Decision::Adapt(adapted, ground) => (ground, Verdict::Admitted, Some(adapted), None),
        Decision::Hold(refusal, adapted, ground) => (ground, Verdict::Held, adapted, Some(refusal)),
        Decision::Refuse(refusal, ground) => (ground, code(&refusal), None, Some(refusal)),
    }
}

impl Plan {
    /// The same over another connection, where what holds was looked at again.
    fn over(&self, epoch: Epoch) -> Arc<Plan> {
        Arc::new(Plan { epoch, ..self.clone() })
    }

    /// The name under which the call is sent.
    fn sent_as<'a>(&'a self, call: &'a Call) -> &'a str {
        self.live.first().map_or(call.tool.as_str(), |live| live.name())
    }

    /// The tool and the arguments that are sent, with the key where there is one.
    fn sent<'a>(&self, call: &'a Call, adapted: Option<&'a Adapted>) -> (&'a str, Cow<'a, Value>) {
        let (tool, arguments) = form(call, adapted);
        let bound = self.key.as_ref().map(|key| key.bind(arguments));
        (tool, bound.unwrap_or(Cow::Borrowed(arguments)))
    }

    /// The decision as the ledger takes it down.
    fn record(
        &self,
        call: &Call,
        granted: Option<String>,
        verdict: Verdict,
        adapted: Option<&Adapted>,
        session: &Session,
    ) -> store::Decision {
        let (_, sent) = self.sent(call, adapted);
        let raw: Option<Map<String, Value>> =
            call.message.params().and_then(|params| serde_json::from_str(params).ok());
        let raw = raw.and_then(|params| params.get("arguments").map(ToString::to_string));
        store::Decision {
            request: self.request,
            session: session.id(),
            principal: session.principal().to_owned(),
            server: session.upstream().name().to_owned(),
            server_version: session.upstream().speech().server_version,
            tool: call.tool.clone(),
            planned: store::Planned {
                digest: self.ground.planned.clone(),
                ordinal: None,
                grade: self
                    .ground
                    .grade
                    .and_then(store::Grade::from_word)
                    .unwrap_or(store::Grade::None),
            },
            current: self.ground.live.clone(),
            granted,
            adapter: adapted.map(|adapted| adapted.by.join(" ")),
            rules: self.ground.rules.iter().map(|rule| (*rule).to_owned()).collect(),
            raw_arguments: raw.unwrap_or_else(|| "{}".to_owned()),
            normalised_arguments: (adapted.is_some() || *sent != call.arguments)
                .then(|| sent.to_string()),
            argument_digest: contract::digest::of_value(&sent),
            effect: self.ground.effect,
            verdict,
            approval: None,
            relied_on: session.relies_on(call),
            at: event::now(),
        }
    }
}
