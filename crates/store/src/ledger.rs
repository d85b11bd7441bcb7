//! The ledger: each request, what was decided about it and on what ground, each attempt, and what came of it.

use crate::word::words;
use crate::{ApprovalId, AttemptId, Millis, RequestId, SessionId};

words! {
    /// How it is known which revision a call was planned under.
    pub enum Grade {
        /// The client said it.
        Declared = "declared",
        /// What this session was last shown.
        Session = "session",
        /// What this principal was last served.
        Principal = "principal",
        /// The arguments fit one revision alone.
        Shape = "shape",
        /// Nothing says it.
        None = "none",
    }
}

/// The revision a call was planned under, and how that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// The digest of its contract; `None` where several are candidates.
    pub digest: Option<String>,
    /// Its number within its server and tool.
    pub ordinal: Option<u64>,
    /// How it is known.
    pub grade: Grade,
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The call may be carried out.
    Admitted,
    /// It is refused, with a code.
    Refused {
        /// The code.
        code: String,
    },
    /// It waits for an approval.
    Held,
}

impl Verdict {
    /// The word.
    pub fn as_str(&self) -> &'static str {
        match self {
            Verdict::Admitted => "admitted",
            Verdict::Refused { .. } => "refused",
            Verdict::Held => "held",
        }
    }
}

/// A decision about one request, with its whole ground.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The request; its id is made by [`crate::Ids`].
    pub request: RequestId,
    /// The session it came in.
    pub session: SessionId,
    /// Who asked.
    pub principal: String,
    /// The key of the server.
    pub server: String,
    /// What the server says its version is.
    pub server_version: Option<String>,
    /// The tool.
    pub tool: String,
    /// The revision it was planned under.
    pub planned: Planned,
    /// The digest of the contract that holds now; `None` where the tool is gone.
    pub current: Option<String>,
    /// The digest of the granted contract, where there is one.
    pub granted: Option<String>,
    /// The adapter that converts it.
    pub adapter: Option<String>,
    /// The codes of the rules that decided.
    pub rules: Vec<String>,
    /// The arguments as received. Sealed.
    pub raw_arguments: String,
    /// The arguments as they would be sent, where an adapter or a policy wrote them. Sealed.
    pub normalised_arguments: Option<String>,
    /// The digest of the arguments that would be sent. Sealed: short arguments can be guessed from their digest.
    pub argument_digest: String,
    /// The call may change something outside.
    pub effect: bool,
    /// What was decided.
    pub verdict: Verdict,
    /// The approval that the call redeemed before this decision; it was asked for by an earlier request that was held.
    pub approval: Option<ApprovalId>,
    /// Requests whose results it relies on.
    pub relied_on: Vec<RequestId>,
    /// When.
    pub at: Millis,
}

words! {
    /// Why a request may be tried once more although an earlier attempt is in doubt.
    pub enum Again {
        /// The operation is declared idempotent in a contract that is still valid.
        Idempotent = "idempotent",
        /// The downstream still knows the idempotency key.
        KeyCovers = "key-covers",
        /// A probe showed that the earlier attempt had no effect.
        Probed = "probed",
    }
}

/// An attempt that is about to leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAttempt {
    /// The request.
    pub request: RequestId,
    /// Where it goes. Public: it names no value of an argument.
    pub target: String,
    /// The token by which the downstream recognises a repetition.
    pub idempotency_key: Option<String>,
    /// Why it is tried again after an attempt in doubt.
    pub again: Option<Again>,
    /// When.
    pub at: Millis,
}

words! {
    /// What came of an attempt.
    pub enum OutcomeState {
        /// Nothing left.
        NotSent = "not-sent",
        /// It was carried out.
        Done = "done",
        /// The other side said definitely that it failed.
        Failed = "failed",
        /// It may have left, and no answer is known.
        InDoubt = "in-doubt",
        /// The other side asks for input before it goes on.
        AwaitingInput = "awaiting-input",
    }
}

/// An outcome to record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOutcome {
    /// The attempt.
    pub attempt: AttemptId,
    /// What came of it.
    pub state: OutcomeState,
    /// The answer, where it may have to be delivered again. Sealed.
    pub answer: Option<String>,
    /// An outcome is recorded already, and this one came after it.
    pub late: bool,
    /// When.
    pub at: Millis,
}

words! {
    /// What a person found out about an attempt in doubt.
    pub enum Resolution {
        /// It was carried out.
        Done = "done",
        /// It was not.
        Failed = "failed",
    }
}

/// One outcome as recorded. Outcomes are appended, never edited; the last one holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What came of it.
    pub state: OutcomeState,
    /// Who said so: `gateway`, `restart`, or the person that resolved it.
    pub by: String,
    /// It came after another one.
    pub late: bool,
    /// When.
    pub at: Millis,
}

/// One attempt as recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Its id.
    pub id: AttemptId,
    /// Its number within the request; the first is 1.
    pub n: u32,
    /// Where it went.
    pub target: String,
    /// The token by which the downstream recognises a repetition.
    pub idempotency_key: Option<String>,
    /// When it was about to leave.
    pub at: Millis,
    /// What came of it, in the order in which it became known; empty while it is under way.
    pub outcomes: Vec<Outcome>,
    /// How it stands: as the last of them says.
    pub state: Option<OutcomeState>,
    /// Nothing came of it so far, and the process that sent it is gone: it is in doubt, and who opens the store to write,
    /// or works on it, puts that on record.
    pub abandoned: bool,
}

/// One request as recorded, with its attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    /// The request.
    pub request: RequestId,
    /// The session it came in.
    pub session: SessionId,
    /// Who asked.
    pub principal: String,
    /// The key of the server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The call may change something outside.
    pub effect: bool,
    /// What was decided.
    pub verdict: Verdict,
    /// When.
    pub at: Millis,
    /// The number of its record in the journal.
    pub leaf: u64,
    /// The digest of the contract that it runs under.
    pub current: Option<String>,
    /// The approval that it redeemed.
    pub approval: Option<ApprovalId>,
    /// The digest of the arguments that would be sent; `None` once they were erased.
    pub argument_digest: Option<String>,
    /// Its answer reached the client.
    pub delivered: bool,
    /// The attempts, in order.
    pub attempts: Vec<Attempt>,
}

/// Which requests are asked for, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActivityQuery {
    /// This request alone.
    pub request: Option<RequestId>,
    /// Of this session alone.
    pub session: Option<SessionId>,
    /// Of this server alone.
    pub server: Option<String>,
    /// Those with an attempt in doubt alone.
    pub in_doubt: bool,
    /// Those older than this one alone: the last of a page gives the next.
    pub before: Option<RequestId>,
    /// At most so many; zero stands for as many as the store gives at once.
    pub limit: u32,
}

/// The stored answer of an effect, whose delivery is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAnswer {
    /// The request.
    pub request: RequestId,
    /// The attempt that was answered.
    pub attempt: AttemptId,
    /// The tool.
    pub tool: String,
    /// The digest of the contract that the call ran under.
    pub current: Option<String>,
    /// The digest of the arguments that were sent.
    pub argument_digest: String,
    /// The approval that the call redeemed.
    pub approval: Option<ApprovalId>,
    /// The answer.
    pub answer: String,
    /// When it came.
    pub at: Millis,
}
