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

pub(super) const UNITS: &[(&str, &[&str])] = &[
    ("money", &["dollar", "cent", "euro", "usd", "eur", "gbp", "yen", "jpy", "pound", "penny"]),
    (
        "time",
        &[
            "millisecond", "ms", "second", "minute", "hour", "day", "week", "month", "year",
            "microsecond", "nanosecond", "sec", "min",
        ],
    ),
    ("size", &["byte", "kb", "kib", "mb", "mib", "gb", "gib", "kilobyte", "megabyte", "gigabyte"]),
    ("zone", &["utc", "gmt"]),
    ("share", &["percent", "percentage", "ratio", "fraction"]),
    ("length", &["character", "token", "word", "line", "pixel"]),
    ("distance", &["meter", "metre", "kilometer", "kilometre", "mile", "feet", "inch", "km"]),
    ("temperature", &["celsius", "fahrenheit", "kelvin"]),
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
