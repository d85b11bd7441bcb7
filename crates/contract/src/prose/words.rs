//! The words that the reader of texts looks for. A table: rows are added, never tuned to one text.

pub(super) const HARD: &[&str] =
    &["must", "required", "mandatory", "never", "shall", "require", "requires"];
pub(super) const SOFT: &[&str] =
    &["should", "may", "can", "could", "optional", "optionally", "recommended"];

/// Verbs of effects that a reader would want to be asked about, as a text about a tool states
/// them: `deletes`, or `is deleted`. Bare forms (`pass null to remove`) tell the caller what can
/// be asked for and promise nothing.
pub(super) const EFFECT_VERBS: &[(&str, &str)] = &[
    ("deletes", "deleted"),
    ("removes", "removed"),
    ("overwrites", "overwritten"),
    ("destroys", "destroyed"),
    ("purges", "purged"),
    ("erases", "erased"),
    ("wipes", "wiped"),
    ("persists", "persisted"),
    ("uploads", "uploaded"),
    ("terminates", "terminated"),
    ("rewrites", "rewritten"),
    ("revokes", "revoked"),
    ("uninstalls", "uninstalled"),
    ("charges", "charged"),
    ("bills", "billed"),
    ("broadcasts", "broadcast"),
    ("stores", "stored"),
    ("saves", "saved"),
    ("discards", "discarded"),
    ("resets", "reset"),
    ("sends", "sent"),
    ("notifies", "notified"),
    ("publishes", "published"),
    ("executes", "executed"),
    ("modifies", "modified"),
    ("emails", "emailed"),
];

/// Words that tell of one effect: where the old side had one of them, another is no news.
pub(super) const EFFECT_FAMILIES: &[&[&str]] = &[
    &[
        "delete", "deletes", "deleted", "deletion", "remove", "removes", "removed", "erase",
        "erases", "erased", "purge", "purges", "purged", "destroy", "destroys", "destroyed",
        "wipe", "wipes", "wiped", "drop", "uninstalls", "uninstalled", "discard", "discards",
        "discarded", "revoke", "revokes", "revoked", "terminates", "terminated", "stop", "kill",
        "reset", "resets", "irreversible", "cannot be undone", "can't be undone", "permanently",
        "clear", "destructive",
    ],
    &[
        "write", "writes", "save", "saves", "saved", "store", "stores", "stored", "persists",
        "persisted", "upload", "uploads", "uploaded", "push", "create", "update", "edit",
        "download", "export", "record", "append", "overwrite", "overwrites", "overwritten",
        "rewrites", "rewritten", "to disk", "on disk", "force", "modify", "modifies", "modified",
        "change", "set", "replace", "put", "add", "insert",
    ],
    &[
        "send", "sends", "sent", "email", "emails", "emailed", "notify", "notifies", "notified",
        "publish", "publishes", "published", "post", "message", "broadcast", "broadcasts",
        "invite", "reply", "comment", "mail", "submit", "share", "announce",
    ],
    &[
        "execute", "executes", "executed", "run", "eval", "evaluate", "invoke", "call", "start",
        "launch", "command", "script", "trigger", "perform",
    ],
    &["cancel", "cancels", "cancelled", "abort", "stop", "end", "close", "terminate"],
];

/// Phrases of effects, in lower case.
pub(super) const EFFECT_PHRASES: &[&str] = &[
    "unsafe", "rce equivalent", "arbitrary code", "arbitrary javascript", "arbitrary command",
    "irreversible", "cannot be undone", "can't be undone", "permanently", "to disk", "on disk",
];

/// Stems of words that take something out of an answer.
pub(super) const REDUCED: &[&str] =
    &["redact", "mask", "obfuscat", "withheld", "truncat", "anonymiz", "strip"];

/// Phrases that take something out of an answer.
pub(super) const REDUCED_PHRASES: &[&str] = &[
    "never returned", "not returned", "omitted from", "no longer returns", "no longer includes",
    "no longer contains",
];

/// What kind of handle a text says a value is.
pub(super) const HANDLE_KINDS: &[(&str, &[&str])] = &[
    ("id", &["id", "identifier", "uuid", "guid", "ids", "identifiers"]),
    ("name", &["name", "names"]),
    ("index", &["index", "position", "indices", "offset"]),
    ("number", &["number", "numbers"]),
    ("slug", &["slug", "slugs"]),
    ("email", &["email", "emails"]),
    ("key", &["key", "keys"]),
    ("path", &["path", "paths"]),
    ("url", &["url", "urls", "uri", "link"]),
];

pub(super) const WIDE: &[&str] = &[
    "all", "every", "any", "entire", "whole", "across", "everything", "anyone", "everyone",
    "everybody", "anybody",
];

/// Units by what they measure; each unit with its spellings, singular.
pub(super) const UNITS: &[(&str, &[&[&str]])] = &[
    (
        "money",
        &[
            &["dollar", "usd", "$"],
            &["cent", "penny"],
            &["euro", "eur", "€"],
            &["pound", "gbp", "£"],
            &["yen", "jpy", "¥"],
        ],
    ),
    (
        "time",
        &[
            &["millisecond", "ms", "msec", "millis"],
            &["second", "sec", "secs"],
            &["minute", "min", "mins"],
            &["hour", "hr", "hrs"],
            &["day"],
            &["week"],
            &["month"],
            &["year"],
            &["microsecond", "usec"],
            &["nanosecond"],
        ],
    ),
    (
        "size",
        &[
            &["byte"],
            &["kilobyte", "kb"],
            &["kibibyte", "kib"],
            &["megabyte", "mb"],
            &["mebibyte", "mib"],
            &["gigabyte", "gb"],
            &["gibibyte", "gib"],
            &["terabyte", "tb"],
        ],
    ),
    ("share", &[&["percent", "percentage", "%"], &["ratio", "fraction"]]),
    ("length", &[&["character", "char"], &["token"], &["word"], &["line"], &["pixel", "px"]]),
    (
        "distance",
        &[
            &["meter", "metre"],
            &["kilometer", "kilometre", "km", "kms"],
            &["mile"],
            &["feet", "foot"],
            &["inch"],
        ],
    ),
    ("extent", &[&["pixel", "px"], &["percent", "percentage", "%"]]),
    ("angle", &[&["degree", "deg"], &["radian", "rad"]]),
    ("temperature", &[&["celsius"], &["fahrenheit"], &["kelvin"]]),
];

/// Units of money, by their first spelling.
pub(super) const MONEY: &[&str] = &["dollar", "cent", "euro", "pound", "yen"];

/// Signs that stand for a unit.
pub(super) const SIGNS: &[&str] = &["%", "$", "€", "£", "¥"];

/// Units of one or two letters: read only in brackets of their own, where they are no word.
pub(super) const SHORT_UNITS: &[(&str, &[&[&str]])] = &[
    (
        "time",
        &[
            &["s", "sec", "seconds"],
            &["ms", "msec", "milliseconds"],
            &["us", "µs", "microseconds"],
            &["ns", "nanoseconds"],
            &["min", "mins", "minutes", "m"],
            &["h", "hr", "hours"],
            &["d", "days"],
        ],
    ),
    (
        "distance",
        &[&["m", "metres", "meters"], &["km"], &["mi", "miles"], &["cm"], &["mm"], &["ft"]],
    ),
    ("mass", &[&["g", "grams"], &["kg"], &["mg"], &["lb", "lbs"], &["oz"]]),
    ("temperature", &[&["c", "°c"], &["f", "°f"], &["k"]]),
    ("size", &[&["b", "bytes"], &["kb"], &["kib"], &["mb"], &["mib"], &["gb"], &["gib"]]),
];

/// Words of which one says the opposite of the other where they stand in one sentence.
pub(super) const OPPOSITES: &[(&[&str], &[&str])] = &[
    (&["before", "prior"], &["after", "since"]),
    (&["first"], &["last"]),
    (&["oldest", "earliest"], &["newest", "latest"]),
    (&["older"], &["newer"]),
    (&["inclusive"], &["exclusive"]),
    (&["ascending", "asc"], &["descending", "desc"]),
    (
        &["included", "includes", "include"],
        &["excluded", "excludes", "exclude", "omit", "omits", "omitted"],
    ),
    (
        &["append", "appends", "appended"],
        &[
            "replace", "replaces", "replaced", "overwrite", "overwrites", "overwritten", "prepend",
            "prepends",
        ],
    ),
    (&["relative"], &["absolute"]),
    (&["draft", "drafts"], &["send", "sends", "sent", "publish", "publishes", "published"]),
    (&["grant", "grants", "granted"], &["revoke", "revokes", "revoked"]),
    (&["utc", "gmt"], &["local"]),
    (&["remote"], &["local"]),
    (&["global"], &["local"]),
    (&["zero_based"], &["one_based"]),
    (&["source", "origin"], &["destination", "target"]),
    (&["sender"], &["recipient", "receiver"]),
    (&["parent"], &["child", "children"]),
    (&["user"], &["group", "team", "organization"]),
    (&["enable", "enables", "enabled"], &["disable", "disables", "disabled"]),
    (
        &["allow", "allows", "allowed"],
        &["deny", "denies", "denied", "forbidden", "block", "blocks", "blocked"],
    ),
    (&["show", "shows", "shown"], &["hide", "hides", "hidden"]),
    (&["lock", "locks", "locked"], &["unlock", "unlocks", "unlocked"]),
    (&["open", "opens", "opened"], &["close", "closes", "closed"]),
    (&["public"], &["private"]),
    (&["upload", "uploads"], &["download", "downloads"]),
    (&["import", "imports"], &["export", "exports"]),
    (&["encode", "encodes", "encoded"], &["decode", "decodes", "decoded"]),
    (&["incoming", "inbound"], &["outgoing", "outbound"]),
    (&["synchronous", "synchronously"], &["asynchronous", "asynchronously"]),
    (&["increase", "increases"], &["decrease", "decreases"]),
    (&["sensitive"], &["insensitive"]),
    (&["minimum", "least"], &["maximum", "most"]),
    (&["uppercase"], &["lowercase"]),
    (&["horizontal", "horizontally"], &["vertical", "vertically"]),
    (&["above"], &["below"]),
    (&["past"], &["future"]),
    (&["always"], &["never"]),
    (
        &["keep", "keeps", "kept"],
        &[
            "discard", "discards", "discarded", "delete", "deletes", "deleted", "remove",
            "removes", "removed",
        ],
    ),
    (
        &["complete", "completed", "completes", "finished", "finishes"],
        &["queued", "scheduled", "started", "accepted", "pending"],
    ),
    (&["move", "moves", "moved"], &["copy", "copies", "copied"]),
    (&["accept", "accepts", "accepted"], &["reject", "rejects", "rejected"]),
    (&["staging", "sandbox"], &["production"]),
    (&["true"], &["false"]),
    (
        &["merge", "merges", "merging", "merged", "patch", "patches"],
        &["replace", "replaces", "replaced", "overwrite", "overwrites", "overwritten"],
    ),
    (&["silently", "silent", "quietly"], &["notify", "notifies", "notifying", "notified"]),
    (
        &["validate", "validates", "check", "checks", "preview", "previews", "simulates", "lint"],
        &["execute", "executes", "run", "runs", "apply", "applies"],
    ),
    (&["wait", "waits", "waiting"], &["immediately", "background"]),
    (
        &["create", "creates", "created", "creating"],
        &["delete", "deletes", "deleted", "deleting", "destroy", "destroys"],
    ),
    (
        &["add", "adds", "added", "adding"],
        &["remove", "removes", "removed", "removing", "delete", "deletes", "deleted"],
    ),
    (&["attach", "attaches", "attached"], &["detach", "detaches", "detached"]),
    (&["link", "links", "linked"], &["unlink", "unlinks", "unlinked"]),
    (&["assign", "assigns", "assigned"], &["unassign", "unassigns", "unassigned"]),
    (&["subscribe", "subscribes"], &["unsubscribe", "unsubscribes"]),
    (&["follow", "follows"], &["unfollow", "unfollows"]),
    (&["install", "installs", "installed"], &["uninstall", "uninstalls", "uninstalled"]),
    (&["connect", "connects", "connected"], &["disconnect", "disconnects", "disconnected"]),
    (&["encrypt", "encrypts", "encrypted"], &["decrypt", "decrypts", "decrypted"]),
    (
        &["approve", "approves", "approved"],
        &["reject", "rejects", "rejected", "decline", "declines"],
    ),
    (&["pause", "pauses", "paused"], &["resume", "resumes", "resumed"]),
    (&["buy", "buys"], &["sell", "sells"]),
    (
        &["start", "starts", "starting", "begin", "begins", "beginning"],
        &["stop", "stops", "stopping", "end", "ends", "ending", "finish"],
    ),
    (&["current"], &["previous"]),
    (&["active"], &["inactive"]),
    (&["internal"], &["external"]),
    (&["higher"], &["lower"]),
    (&["earlier"], &["later"]),
    (&["optional", "optionally"], &["required", "mandatory"]),
    (&["ignored", "ignores"], &["used", "applied", "applies", "honored", "honoured", "respected"]),
    (&["sandbox", "sandboxed", "container", "isolated", "isolation"], &["host"]),
];

/// How many of the things are meant that the next word names; one in place of another is a move.
pub(super) const QUANTIFIERS: &[(&[&str], &[&str])] = &[
    (&["first", "last", "one"], &["all", "every", "each"]),
    (&["any"], &["all", "every", "each"]),
];

/// Formats of a text or a value, each with its spellings.
pub(super) const FORMATS: &[&[&str]] = &[
    &["html"],
    &["markdown", "md"],
    &["xml"],
    &["yaml", "yml"],
    &["csv"],
    &["base64"],
    &["hex", "hexadecimal"],
    &["adf"],
    &["rtf"],
    &["plain", "plaintext"],
    &["glob", "globs", "wildcard"],
    &["regex", "regexp", "regular"],
    &["comma_separated"],
    &["semicolon_separated"],
    &["space_separated"],
    &["newline_separated", "line_separated"],
    &["pipe_separated"],
    &["tab_separated"],
    &["raw", "unencoded"],
    &["unix", "epoch"],
    &["iso", "iso8601", "rfc3339"],
];

/// Two numbers or sides whose order is a convention.
pub(super) const ORDERED: &[(&[&str], &[&str])] = &[
    (&["latitude", "lat"], &["longitude", "lon", "lng", "long"]),
    (&["width"], &["height"]),
    (&["row"], &["column", "col"]),
];

/// Words that a sentence is held together with; they tell nothing of what is meant.
pub(super) const JOINTS: &[&str] = &[
    "a", "an", "the", "of", "to", "in", "on", "for", "from", "by", "with", "at", "as", "is", "are",
    "be", "was", "were", "will", "would", "can", "could", "may", "might", "should", "do", "does",
    "did", "it", "its", "this", "that", "these", "those", "and", "or", "if", "when", "which",
    "you", "your", "must", "has", "have", "use", "uses", "used", "using", "return", "returns",
    "returned", "value",
];

/// What a text says of an argument that is not given.
pub(super) const LEFT_OUT: &[&str] = &[
    "omit", "omitted", "omitting", "if not given", "if not specified", "if not provided",
    "if not set", "when not given", "when not specified", "when not provided", "left out",
    "if unset", "if absent", "if empty", "by default", "unless given", "unless specified",
    "unless provided", "unless set", "unless stated", "unless told", "unless otherwise", "if none",
    "when omitted", "when absent", "when empty", "when unset", "when left",
];

/// Words for a default in other languages, as they stand in a text in lower case.
pub(super) const DEFAULT_WORDS: &[&str] = &[
    "デフォルト",
    "既定",
    "規定値",
    "默认",
    "預設",
    "预设",
    "缺省",
    "기본",
    "standard:",
    "standardwert",
    "standardmäßig",
    "voreinstellung",
    "par défaut",
    "défaut",
    "por defecto",
    "predeterminad",
    "por omisión",
    "padrão",
    "predefinit",
    "standaard",
    "по умолчанию",
    "domyśln",
    "varsayılan",
];

/// Words before a number that is a name.
pub(super) const NUMBERED: &[&str] = &[
    "version", "versions", "section", "chapter", "step", "figure", "table", "issue", "rfc",
    "example", "level", "python", "node", "java", "es", "http", "tls", "api", "phase", "rule",
    "option", "type", "model", "release", "windows", "ubuntu", "number", "no", "article", "part",
    "page", "line",
];

/// Words of a number that is only about so much, or praises.
pub(super) const LOOSE_NUMBERS: &[&str] = &[
    "about", "approximately", "approx", "around", "roughly", "nearly", "almost", "over",
    "typically", "usually", "average", "estimated", "supports", "supported", "example", "examples",
    "released", "since", "tools", "plus", "more",
];

/// Words by which a text asks a person first, and what must stand near them to mean that: nothing, where it is empty.
pub(super) const GUARDS: &[(&[&str], &[&str])] = &[
    (&["confirmation", "confirmations"], &[]),
    (
        &["approval", "consent"],
        &[
            "require", "requires", "required", "need", "needs", "ask", "asks", "after", "until",
            "wait", "waits", "explicit",
        ],
    ),
    (&["approve", "approves", "approved"], &["after", "until", "once", "unless", "before"]),
    (&["confirm", "confirms"], &["user", "person", "human", "you", "before", "first"]),
    (
        &["asks", "ask", "asking", "prompts", "prompt", "prompting"],
        &["before", "first", "unless", "permission"],
    ),
];

/// Claims that nothing is changed.
pub(super) const HARMLESS: &[&str] = &[
    "read only", "readonly", "no side effects", "does not modify", "doesn't modify",
    "does not change", "doesn't change", "never modifies", "never changes", "never writes",
    "does not write", "doesn't write", "nothing is sent", "nothing is changed",
    "nothing is written", "nothing is deleted", "without changing", "without modifying",
    "does not send", "does not delete", "does not execute", "is not executed",
];

/// Words of a text that promises that nothing is lost for good.
pub(super) const PROMISES: &[&str] = &[
    "restored", "restore", "undone", "undo", "recovered", "recoverable", "reversible", "reverted",
    "kept", "retained", "preserved", "untouched", "intact", "trash",
];

/// Verbs of a tool that only looks, as its text leads with them.
pub(super) const LOOKS: &[&str] = &[
    "read", "get", "list", "fetch", "show", "view", "search", "find", "query", "return",
    "retrieve", "describe", "check", "validate", "preview", "inspect", "count", "lookup", "watch",
    "analyze", "calculate", "compute", "display", "browse", "report",
];

/// Verbs of a deed, as a text leads with them or adds them.
pub(super) const DEEDS: &[&str] = &[
    "write", "overwrite", "delete", "remove", "send", "create", "update", "execute", "modify",
    "replace", "push", "publish", "drop", "merge", "deploy", "cancel", "install", "uninstall",
    "upload", "commit", "edit", "rename", "pay", "charge", "transfer", "invite", "archive",
    "enable", "disable", "reset", "purge", "wipe", "kill", "email", "notify", "terminate", "erase",
    "alter", "move",
];

/// Words that make an effect or an answer smaller; without them it is the whole one.
pub(super) const SOFTENERS: &[&str] = &[
    "soft", "draft", "masked", "redacted", "encrypted", "anonymized", "anonymised", "temporary",
    "temporarily", "simulated", "simulates", "simulate", "dry", "sandboxed",
];

/// Words that make an effect harder.
pub(super) const FORCE: &[&str] = &["force", "forced", "forces", "forcibly", "forcefully"];

/// In whose name a call acts.
pub(super) const ACTORS: &[&str] = &[
    "bot", "user", "admin", "administrator", "root", "service", "app", "application", "owner",
    "system", "agent", "superuser",
];

/// Words for what a call costs.
pub(super) const PRICES: &[&str] = &[
    "call costs", "request costs", "it costs", "use costs", "query costs", "run costs",
    "consumes credits", "costs credits", "is billed", "are billed",
];

pub(super) const NEGATIONS: &[&str] = &[
    "not", "never", "no", "without", "cannot", "avoid", "instead", "don't", "doesn't", "didn't",
    "won't", "can't", "isn't", "aren't", "wasn't", "weren't", "hasn't", "haven't", "hadn't",
    "shouldn't", "mustn't", "couldn't", "wouldn't", "needn't",
];

/// Words that make one of many: `the current project`.
pub(super) const NARROW: &[&str] = &[
    "current", "this", "own", "your", "my", "single", "given", "specified", "selected", "active",
    "one", "same",
];

/// Words of a call that fails by itself.
pub(super) const REFUSALS: &[&str] = &[
    "fail", "fails", "error", "errors", "refuse", "refuses", "refused", "reject", "rejects",
    "rejected", "throws", "abort", "aborts",
];

/// Words of a deed on what is there already.
pub(super) const DEEDS_ON_WHAT_IS_THERE: &[&str] = &[
    "update", "updates", "overwrite", "overwrites", "replace", "replaces", "upsert", "upserts",
    "existing", "edit", "edits", "modify", "modifies", "save", "saves", "write", "writes", "set",
    "sets", "put",
];

/// Phrases that promise that a call may be repeated.
pub(super) const REPEATABLE: &[&str] = &[
    "idempotent", "safe to retry", "safe to repeat", "safe to call again", "safely retried",
    "safely be retried", "safely repeated", "can be retried", "can be repeated safely",
];

/// Words of a tool that runs what it is given.
pub(super) const RUNS: &[&str] = &[
    "run", "runs", "execute", "executes", "query", "queries", "sql", "command", "commands",
    "script", "scripts", "statement", "statements", "code", "expression",
];

/// Words that set a limit to what is done.
pub(super) const LIMITING: &[&str] = &[
    "only", "just", "solely", "exclusively", "limited", "restricted", "confined", "must", "except",
    "nothing",
];

/// Phrases of a call that goes on where it could fail.
pub(super) const REGARDLESS: &[&str] =
    &["even if", "even when", "even though", "regardless", "whether or not", "anyway"];

/// Words of what somebody is granted.
pub(super) const ACCESS: &[&str] = &[
    "access", "permission", "permissions", "right", "rights", "scope", "scopes", "role",
    "privilege", "privileges", "mode",
];

/// Words of what lies deeper.
pub(super) const DEEPER: &[&str] = &[
    "subfolder", "subfolders", "subdirectory", "subdirectories", "recursive", "recursively",
    "descendants", "nested", "subpages",
];

/// Those who see a thing that few see, and that everybody sees.
pub(super) const FEW_EYES: &[&str] = &[
    "member", "members", "team", "private", "owner", "owners", "invited", "collaborators",
    "internal",
];
pub(super) const MANY_EYES: &[&str] = &["public", "publicly", "everyone", "anyone", "everybody"];
