//! What happens in a run. A step holds all that it needs: any of them may be left out, and the others stay the same.

use super::chance::Chance;

/// Clients of a run.
pub const CLIENTS: usize = 2;
/// Steps of a run.
const STEPS: usize = 48;

/// The tools of the simulated server.
pub const TOOLS: [&str; 3] = ["post", "move", "find"];

/// One step, and the pause after it in milliseconds.
#[derive(Debug, Clone)]
pub struct Step {
    pub what: What,
    pub pause: u64,
}

#[derive(Debug, Clone)]
pub enum What {
    /// A client asks for the list; from its answer on it plans by it, or a while later.
    List { client: usize, lags: bool },
    /// A client calls a tool by what it plans with.
    Call { client: usize, tool: &'static str, sets: Sets },
    /// A client makes its last call again that was not carried out, as it was.
    Repeat { client: usize },
    /// The same with the token of the refusal.
    Acknowledge { client: usize },
    /// A client cancels its last request, and uses its id again where it does.
    Cancel { client: usize, reuses: bool },
    /// A client leaves and comes back, with what it plans with.
    Reconnect { client: usize },
    /// The contract of a tool moves.
    Drift { tool: &'static str, how: Drift, told: bool },
    /// The server says that its list changed, and it did not.
    Ring,
    /// What the server does with the next call.
    Fault(Fault),
    /// The next list takes so long, or is not answered at all.
    ListFault(Option<u64>),
    /// The server ends, and is started again by whoever needs it.
    ServerEnds,
    /// The gateway ends as by a fault so many writes or questions to its store from now, before or after that one.
    GatewayEnds { after: u32, before: bool },
    /// The disk takes so long from now on.
    SlowDisk(u64),
    /// So many operations of the store fail.
    FullDisk(u32),
    /// A person looks at what waits.
    Person { approves: bool },
    /// Nothing.
    Wait,
}

/// Which arguments a call sets that it may leave out.
#[derive(Debug, Clone, Copy)]
pub struct Sets {
    /// The widest choice that its plan has.
    pub reach: bool,
    /// The optional ones.
    pub optional: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drift {
    Wording,
    Optional,
    Required,
    Rename,
    Meaning,
    Default,
    Wider,
    Narrower,
    Deed,
    Gone,
    Back,
    Answer,
    Earlier,
    Empty,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Done, and never answered.
    Silent,
    /// Done, and answered after so long.
    Slow(u64),
    /// Done, and answered twice.
    Twice,
    /// Done, and the server ends.
    EndsAfter,
    /// Not done: the server ends.
    EndsBefore,
    /// Not done: an error.
    Fails,
    /// Done, and the answer is no message.
    Garbles,
    /// The contract moves between the verification and the deed.
    Moves(Drift),
}

const DRIFTS: [Drift; 14] = [
    Drift::Wording,
    Drift::Optional,
    Drift::Required,
    Drift::Rename,
    Drift::Meaning,
    Drift::Default,
    Drift::Wider,
    Drift::Narrower,
    Drift::Deed,
    Drift::Gone,
    Drift::Back,
    Drift::Answer,
    Drift::Earlier,
    Drift::Empty,
];

/// The steps of a seed. Each run begins with both clients knowing the list, so that it is known what was granted.
pub fn of(chance: &mut Chance) -> Vec<Step> {
    let mut steps = Vec::new();
    for client in 0..CLIENTS {
        steps.push(Step { what: What::List { client, lags: false }, pause: 100 });
        let sets = Sets { reach: false, optional: false };
        steps.push(Step { what: What::Call { client, tool: "post", sets }, pause: 500 });
    }
    for _ in 0..STEPS {
        let pause = match chance.below(10) {
            0..3 => 0,
            3..6 => 1 + chance.below(20),
            6..9 => 50 + chance.below(2_000),
            _ => 1_000 + chance.below(90_000),
        };
        steps.push(Step { what: what(chance), pause });
    }
    steps
}

fn what(chance: &mut Chance) -> What {
    let client = usize::try_from(chance.below(CLIENTS as u64)).unwrap();
    let tool = chance.of(&TOOLS);
    match chance.below(100) {
        0..12 => What::List { client, lags: chance.percent(40) },
        12..45 => {
            let sets = Sets { reach: chance.percent(40), optional: chance.percent(40) };
            What::Call { client, tool, sets }
        }
        45..51 => What::Repeat { client },
        51..55 => What::Acknowledge { client },
        55..59 => What::Cancel { client, reuses: chance.percent(60) },
        59..61 => What::Reconnect { client },
        61..78 => What::Drift { tool, how: chance.of(&DRIFTS), told: chance.percent(50) },
        78..80 => What::Ring,
        80..87 => What::Fault(fault(chance)),
        87..89 => {
            What::ListFault(if chance.percent(60) { Some(chance.below(3_000)) } else { None })
        }
        89..91 => What::ServerEnds,
        91..94 => {
            let after = u32::try_from(chance.below(24)).unwrap();
            What::GatewayEnds { after, before: chance.percent(50) }
        }
        94..95 => What::SlowDisk(chance.below(40)),
        95..96 => What::FullDisk(u32::try_from(1 + chance.below(4)).unwrap()),
        96..99 => What::Person { approves: chance.percent(70) },
        _ => What::Wait,
    }
}

fn fault(chance: &mut Chance) -> Fault {
    match chance.below(10) {
        0 => Fault::Silent,
        1 => Fault::Slow(chance.below(9_000)),
        2 => Fault::Twice,
        3 => Fault::EndsAfter,
        4 => Fault::EndsBefore,
        5 => Fault::Fails,
        6 => Fault::Garbles,
        _ => Fault::Moves(chance.of(&DRIFTS)),
    }
}
