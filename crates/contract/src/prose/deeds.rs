//! Verbs that a text about a tool leads with, by the deeds they can stand for. A table: rows are added, never tuned to
//! one text. A verb stands in each family that an author may mean by it; two verbs tell of different deeds only where
//! they have no family in common.

pub(super) const DEED_FAMILIES: &[&[&str]] = &[
    // Looks, and changes nothing.
    &[
        "get", "fetch", "retrieve", "return", "list", "show", "read", "view", "display", "find",
        "search", "query", "look", "lookup", "browse", "describe", "inspect", "see", "obtain",
        "provide", "give", "load", "select", "access", "report", "count", "check", "detect",
        "determine", "extract", "discover", "explore", "enumerate", "examine", "watch", "observe",
        "analyze", "analyse", "compute", "calculate", "compare", "evaluate", "monitor", "verify",
        "validate", "test", "preview", "estimate", "predict", "summarize", "summarise", "resolve",
        "locate", "identify", "review", "measure", "scan", "audit", "download", "export", "track",
        "collect", "print", "output", "expose", "tell", "ask", "lint", "simulate", "diff", "parse",
        "convert", "translate", "format", "render", "filter", "sort", "navigate", "open", "pull",
        "capture", "take", "perform", "run", "poll", "wait", "probe", "ping", "debug", "explain",
        "suggest", "recommend", "generate", "make", "follow", "gather", "aggregate", "map",
    ],
    // Makes something that was not there.
    &[
        "create", "add", "make", "insert", "generate", "register", "define", "open", "compose",
        "draft", "write", "produce", "initialize", "initialise", "init", "provision", "establish",
        "construct", "build", "spawn", "start", "launch", "submit", "post", "save", "store", "put",
        "record", "log", "append", "attach", "set", "configure", "upload", "import", "clone",
        "copy", "duplicate", "fork", "upsert", "schedule", "render", "allocate", "issue", "place",
        "book", "reserve", "capture", "take", "export", "extract", "begin", "form", "file",
        "assign", "invite", "publish", "deploy", "install", "apply", "push", "commit", "link",
        "request", "queue", "trigger", "prepare", "plan", "grant", "enable", "send", "subscribe",
        "map", "tag", "perform", "execute", "run",
    ],
    // Changes what is there.
    &[
        "update", "edit", "modify", "change", "set", "alter", "patch", "adjust", "revise", "amend",
        "write", "put", "replace", "overwrite", "rename", "configure", "customize", "customise",
        "save", "store", "move", "upsert", "assign", "mark", "toggle", "refresh", "fix",
        "refactor", "transform", "convert", "format", "apply", "merge", "append", "extend", "add",
        "insert", "resize", "switch", "transition", "reorder", "perform", "sync", "synchronize",
        "upgrade", "commit", "push", "submit", "tag", "label", "enable", "disable", "rewrite",
    ],
    // Takes something away for good.
    &[
        "delete", "remove", "erase", "drop", "purge", "wipe", "destroy", "clear", "discard",
        "terminate", "uninstall", "unset", "trash", "clean", "empty", "revoke", "unregister",
        "deregister", "prune", "reset",
    ],
    // Ends what is going on.
    &[
        "stop", "halt", "end", "cancel", "abort", "finish", "complete", "quit", "exit", "shutdown",
        "shut", "interrupt", "close", "disconnect", "kill", "release", "free",
    ],
    &["terminate", "kill", "shut", "shutdown", "destroy"],
    &["suspend", "pause", "hold", "freeze", "sleep", "stop"],
    // Lets something go on.
    &[
        "start", "run", "launch", "execute", "begin", "resume", "trigger", "invoke", "call",
        "boot", "initiate", "perform", "activate", "restart", "play", "evaluate", "test", "reboot",
        "continue", "process", "dispatch", "schedule", "queue", "apply", "deploy", "enable",
        "submit", "open", "build",
    ],
    // Tells somebody.
    &[
        "send", "email", "mail", "post", "publish", "notify", "broadcast", "message", "reply",
        "share", "submit", "forward", "push", "announce", "deliver", "dispatch", "transmit",
        "comment", "respond", "upload", "tell", "ask", "request", "write", "report", "sync",
    ],
    &["approve", "accept", "confirm", "grant", "authorize", "authorise", "allow", "permit"],
    &["reject", "decline", "deny", "refuse", "dismiss", "revoke", "block", "ban", "forbid"],
    &["enable", "activate"],
    &["disable", "deactivate", "unset"],
    &[
        "pay", "charge", "bill", "buy", "purchase", "order", "book", "reserve", "checkout",
        "transfer", "place", "rent",
    ],
    &["sell"],
    &["refund"],
    &["move", "transfer", "relocate", "migrate", "rename", "drag"],
    &["copy", "duplicate", "clone", "replicate", "fork"],
    &["archive", "close", "move"],
    &["restore", "unarchive", "recover", "undelete", "undo", "revert", "rollback", "roll", "reset"],
    &["lock", "protect", "freeze", "block"],
    &["unlock", "unprotect", "unfreeze", "unblock", "release", "free"],
    &["install", "add", "deploy"],
    &["release", "publish", "ship", "deploy"],
    &["unpublish", "withdraw", "retract", "hide"],
    &["upload", "import", "push"],
    &["merge", "combine", "join", "consolidate", "concatenate"],
    &["rebase"],
    &["split", "divide"],
    &["invite", "add", "share"],
    &[
        "attach", "link", "connect", "associate", "assign", "add", "bind", "map", "tag", "join",
        "subscribe",
    ],
    &[
        "detach", "unlink", "disconnect", "unassign", "remove", "untag", "disassociate", "unbind",
        "leave",
    ],
    &["close", "resolve", "complete", "finish", "end"],
    &["reopen"],
    &["subscribe", "follow", "watch", "star"],
    &["unsubscribe", "unfollow", "unwatch", "unstar", "mute"],
    &["encrypt", "lock", "protect"],
    &["decrypt", "unlock"],
    &["compress", "zip", "pack"],
    &["decompress", "unzip", "unpack", "extract"],
    &["click", "tap", "press", "select", "touch"],
    &["hover", "move"],
];

/// Words before the verb that tell nothing of the deed: `Use this tool to create`.
pub(super) const BEFORE_THE_VERB: &[&str] = &[
    "use", "this", "the", "a", "an", "tool", "tools", "function", "endpoint", "operation",
    "method", "command", "api", "used", "to", "allows", "allow", "lets", "let", "helps", "help",
    "you", "it", "can", "will", "that", "which", "please", "safely", "automatically",
    "permanently", "quickly", "directly", "immediately", "manually", "asynchronously",
    "synchronously", "recursively", "easily", "batch", "bulk",
];

/// Words behind a verb in its bare form; behind a noun of the same letters they stand seldom.
pub(super) const BEHIND_THE_VERB: &[&str] = &[
    "a", "an", "the", "all", "any", "each", "every", "this", "that", "these", "those", "its",
    "their", "your", "it", "them", "one", "new", "multiple", "several", "many", "existing",
    "specific", "another", "up",
];

/// Verbs that are nouns as well: in their bare form only what follows tells which.
pub(super) const ALSO_NOUNS: &[&str] = &[
    "list", "search", "query", "report", "count", "check", "test", "preview", "estimate", "review",
    "measure", "scan", "audit", "download", "export", "track", "print", "output", "filter", "sort",
    "capture", "take", "poll", "wait", "ping", "debug", "access", "view", "display", "find",
    "look", "watch", "record", "log", "set", "copy", "clone", "fork", "schedule", "issue", "place",
    "book", "request", "queue", "trigger", "plan", "grant", "map", "tag", "start", "open", "post",
    "draft", "form", "file", "build", "launch", "link", "label", "mark", "change", "fix", "patch",
    "format", "move", "switch", "transition", "update", "upgrade", "commit", "push", "run", "end",
    "stop", "comment", "message", "email", "mail", "share", "reply", "order", "charge", "bill",
    "transfer", "release", "lock", "block", "hold", "pause", "call", "process", "play", "archive",
    "import", "merge", "split", "star", "mute", "press", "click", "tap", "touch", "drag", "roll",
    "show", "load", "read", "pull", "return", "lint", "diff", "upload", "render", "store", "empty",
    "clean", "trash", "drop", "reset", "abort", "finish", "complete", "exit", "close", "kill",
    "sleep", "refund", "purchase", "rent", "hide", "ban", "invite", "follow", "zip", "pack",
    "select", "edit", "insert", "make", "pay", "buy", "sell", "sync", "refresh", "toggle", "join",
    "leave", "boot", "restart", "reboot", "init", "setup", "checkout", "rollback", "undo",
    "monitor", "probe", "save", "put", "install", "clear",
];
