//! Every bound of actions, with its reason.

use std::time::Duration;

/// Bytes of a file of bindings: some hundred of them.
pub const FILE: u64 = 1 << 20;

/// Bindings in one file: more tools than a model can choose among.
pub const BINDINGS: usize = 256;

/// Arguments of one binding.
pub const ARGUMENTS: usize = 64;

/// Problems of a file that are told at once: nobody repairs more in one go.
pub const PROBLEMS: usize = 100;

/// Bytes of an argument: a text that a person could still look at.
pub const ARGUMENT: usize = 64 << 10;

/// Addresses of one name that are looked at; a name with more is refused, since all of them must be checked.
pub const ADDRESSES: usize = 64;

/// How long a connection, with its handshake, may take to one address.
pub const CONNECT: Duration = Duration::from_secs(10);

/// How long an answer may take, from the first byte sent to its last.
pub const ANSWER: Duration = Duration::from_secs(60);

/// Bytes of an answer: what is longer is withheld, since all of it must be scanned before any of it is passed on.
pub const BODY: usize = 1 << 20;

/// Calls at once.
pub const CALLS: usize = 16;

/// Bytes of one message of the client: every argument at its longest, with room.
pub const MESSAGE: usize = 8 << 20;
