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
        "rewrites", "rewritten", "to disk", "on disk", "file", "force",
    ],
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

pub(super) const WIDE: &[&str] =
    &["all", "every", "any", "entire", "whole", "across", "everything", "anyone"];

/// Units by what they measure; each unit with its spellings, singular.
pub(super) const UNITS: &[(&str, &[&[&str]])] = &[
    (
        "money",
        &[
            &["dollar", "usd"],
            &["cent", "penny"],
            &["euro", "eur"],
            &["pound", "gbp"],
            &["yen", "jpy"],
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
    ("temperature", &[&["celsius"], &["fahrenheit"], &["kelvin"]]),
];

/// Units of one or two letters: read only in brackets of their own, where they are no word.
pub(super) const SHORT_UNITS: &[(&str, &[&[&str]])] = &[
    (
        "time",
        &[
            &["s", "sec", "seconds"],
            &["ms", "msec", "milliseconds"],
            &["us", "µs", "microseconds"],
            &["ns", "nanoseconds"],
            &["min", "mins", "minutes"],
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
    (&["keep", "keeps", "kept"], &["discard", "discards", "discarded"]),
    (&["move", "moves", "moved"], &["copy", "copies", "copied"]),
    (&["accept", "accepts", "accepted"], &["reject", "rejects", "rejected"]),
    (&["staging", "sandbox"], &["production"]),
    (&["true"], &["false"]),
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
    "if unset", "if absent", "if empty", "by default",
];

pub(super) const NEGATIONS: &[&str] =
    &["not", "never", "no", "without", "cannot", "don't", "doesn't", "won't", "avoid", "instead"];

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
