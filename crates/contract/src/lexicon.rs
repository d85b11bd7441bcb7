//! Words that matter: fields that select a target or an authority, fields that guard, fields
//! that only dress the answer.
//!
//! A field is judged by the parts of its name (`accountIds` → `account`, `id`), never by one
//! server's spelling. A project adds its own words; a project's word always wins.

use serde::{Deserialize, Serialize};

/// Words that a project adds to the built-in lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lexicon {
    /// Fields that select a target or an authority.
    pub authority: Vec<String>,
    /// Fields that guard: confirmations, dry runs, version guards.
    pub guard: Vec<String>,
    /// Fields that look like one of these and are not.
    pub neutral: Vec<String>,
}

/// What a field does in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Nothing the lexicon knows.
    Plain,
    /// Dresses the answer: `format`, `verbose`, `title`.
    Presentation,
    /// Walks or cuts a list: `limit`, `page`, `cursor`.
    Paging,
    /// Widens or changes the effect: `recursive`, `overwrite`, `delete_source`.
    Effect,
    /// Selects the object that is acted on: `repository`, `region`, `path`.
    Target,
    /// Free text that is run or fetched: `command`, `sql`, `url`.
    FreeForm,
    /// Selects who acts or what they may: `account`, `role`, `profile`.
    Authority,
    /// Stops a call unless it is set: `confirm`, `force`, `dry_run`, `reveal`, `sha`.
    Guard,
}

impl Role {
    /// True where a guessed value would choose who acts, on what, or past which guard (D5).
    pub fn is_guarded(self) -> bool {
        matches!(self, Role::Target | Role::Authority | Role::FreeForm | Role::Guard)
    }
}

/// Which kind of guard a guarding field is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardKind {
    /// A person's yes: `confirm`, `acknowledge`.
    Confirm,
    /// Overrides a check: `force`, `override`.
    Force,
    /// Does nothing for real: `dry_run`, `preview`.
    DryRun,
    /// Shows what is masked: `reveal`.
    Reveal,
    /// Refuses a stale write: `sha`, `etag`, `expected_version`.
    Version,
}

const AUTHORITY: &[&str] = &[
    "account", "profile", "credential", "credentials", "role", "permission", "permissions",
    "privilege", "privileges", "scope", "scopes", "tenant", "principal", "identity", "impersonate",
    "sudo", "admin", "token", "secret", "owner", "organization", "organisation", "org",
    "subscription", "auth", "authorization", "visibility", "private", "public", "acl", "policy",
    "trust", "sandbox", "behalf", "impersonation",
];

const TARGET: &[&str] = &[
    "environment", "env", "repository", "repo", "host", "hostname", "user", "username", "region",
    "project", "target", "cluster", "namespace", "workspace", "database", "db", "bucket", "server",
    "endpoint", "path", "paths", "file", "filename", "filepath", "directory", "dir", "folder",
    "site", "zone", "branch", "connection", "device", "channel", "recipient", "recipients",
    "email", "address", "destination", "domain", "service", "instance", "container", "pod", "node",
    "queue", "table", "collection", "context", "group", "team", "page", "tab", "window", "session",
    "datacenter", "location", "mount", "volume", "port", "app", "application", "package", "bundle",
    "arn", "uid", "uuid", "store", "index", "board", "list", "issue", "ticket", "customer", "dest",
    "source", "src", "to", "from", "member", "assignee", "resource", "object", "simulator", "cc",
    "bcc", "proxy", "attachment",
];

const FREE_FORM: &[&str] = &[
    "command", "cmd", "script", "code", "sql", "url", "urls", "uri", "uris", "href", "expression",
    "eval", "shell", "webhook", "callback", "jq", "template", "exec", "function", "hook", "argv",
];

const EFFECT: &[&str] = &[
    "delete", "overwrite", "recursive", "cascade", "purge", "prune", "destroy", "truncate",
    "replace", "remove", "wipe", "allow", "disable", "skip", "ignore", "bypass", "save", "write",
    "upload", "publish", "download", "install", "all", "external", "insecure", "unsafe", "symlink",
    "symlinks", "follow", "archived", "hidden", "drop", "notify", "merge", "append", "expose",
    "share",
];

const PAGING: &[&str] = &[
    "limit", "cursor", "offset", "skip", "top", "count", "max", "size", "length", "per", "after",
    "before", "head", "tail", "first", "last", "lines", "num", "pagination", "results",
];

const PRESENTATION: &[&str] = &[
    "format", "verbose", "title", "label", "sort", "order", "timeout", "verbosity", "detail",
    "details", "fields", "output", "pretty", "color", "colour", "theme", "locale", "language",
    "lang", "timezone", "quality", "width", "height", "scale", "description", "comment", "note",
    "message", "body", "text", "favicon", "images", "answer", "depth", "include",
];

const CONFIRM: &[&str] = &[
    "confirm", "confirmed", "confirmation", "acknowledge", "acknowledged", "approve", "approved",
    "approval", "consent",
];
const FORCE: &[&str] = &["force", "forced", "override"];
const DRY_RUN: &[&str] = &["dryrun", "preview", "simulate", "simulation", "noop"];
const REVEAL: &[&str] = &["reveal", "unmask", "plaintext", "decrypt", "decrypted", "unredacted"];
const VERSION: &[&str] = &["sha", "etag", "ifmatch", "checksum"];

/// Last words of a name that measures, dresses or sorts what stands before them: `page_width` is no
/// page, `user_agent` no user, `resource_types` no resource.
const MEASURES: &[&str] = &[
    "width", "height", "num", "idx", "size", "count", "length", "limit", "offset", "total", "date",
    "time", "age", "timeout", "ttl", "interval", "type", "kind", "style", "color", "colour",
    "agent", "audience", "format", "encoding", "label", "title", "description", "icon", "image",
    "theme", "locale", "language", "lang", "timezone", "order", "sort", "ratio", "scale",
    "quality", "percent", "orientation", "factor",
];

/// What stands before a `token` that only walks a list on.
const WALKS: &[&str] =
    &["page", "continuation", "next", "cursor", "sync", "resume", "pagination", "skip", "previous"];

/// Words that a switch of their own says: `private: true` is a reach, `profile: true` is none.
const SWITCHES: &[&str] =
    &["sudo", "admin", "private", "public", "trust", "sandbox", "impersonate", "visibility"];

/// Words that say what kind of handle an identifier is. A rename that swaps one for another is
/// not a rename: an index is not an id.
const HANDLE: &[&str] = &[
    "id", "ids", "idx", "index", "name", "names", "number", "num", "no", "url", "uri", "path",
    "key", "slug", "guid", "uuid", "uid", "arn", "email", "title", "label", "position", "ref",
    "sha", "hash", "node", "login", "handle", "selector", "iid",
];

/// What a text says of an argument in whose name a call acts.
const IN_THE_NAME_OF: &[&str] = &[
    "on behalf of", "act as", "acts as", "acting as", "run as", "runs as", "impersonate",
    "impersonates", "log in as", "in the name of", "http headers", "http header",
    "request headers", "extra headers", "additional headers", "custom headers",
];

/// What a text says of an argument that holds text to be run or fetched.
const RUN_OR_FETCHED: &[&str] = &[
    "sql condition", "sql expression", "sql filter", "sql query", "sql statement", "sql clause",
    "where clause", "shell command", "command to run", "command to execute",
    "command line arguments", "command line flags", "command line options", "extra arguments",
    "additional arguments", "javascript", "script to run", "code to run", "code to execute",
    "python code", "expression to evaluate",
];

/// What a text says of an argument that names who or what is reached.
const REACHED: &[&str] = &[
    "blind copy", "blind carbon copy", "carbon copy", "send a copy", "sends a copy",
    "also send to", "recipients", "proxy", "files to attach", "file to attach", "local files",
    "local file",
];

/// Splits a name into lower-case parts: `projectId`, `project-id` and `PROJECT_ID` alike.
pub fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut current = String::new();
    let characters: Vec<char> = name.chars().collect();
    for (position, &character) in characters.iter().enumerate() {
        if !character.is_alphanumeric() {
            if !current.is_empty() {
                words.push(std::mem::take(&mut current));
            }
            continue;
        }
        let after_lower = position > 0
            && (characters[position - 1].is_lowercase() || characters[position - 1].is_numeric());
        let ends_acronym = position > 0
            && characters[position - 1].is_uppercase()
            && characters.get(position + 1).is_some_and(|next| next.is_lowercase());
        if character.is_uppercase() && (after_lower || ends_acronym) && !current.is_empty() {
            words.push(std::mem::take(&mut current));
        }
        current.extend(character.to_lowercase());
    }
    if !current.is_empty() {
        words.push(current);
    }
    words
}

/// A word without its plural ending, good enough to compare names.
pub fn singular(word: &str) -> &str {
    if word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us") {
        &word[..word.len() - 1]
    } else {
        word
    }
}

fn holds(list: &[&str], parts: &[String]) -> bool {
    parts.iter().any(|part| list.contains(&part.as_str()) || list.contains(&singular(part)))
}

impl Lexicon {
    fn listed(list: &[String], field: &str, parts: &[String]) -> bool {
        list.iter().any(|word| {
            let wanted = words(word);
            word == field
                || (!wanted.is_empty()
                    && parts.windows(wanted.len()).any(|window| window == wanted.as_slice()))
        })
    }

    /// What the field does in a call, by the parts of its (last) name.
    pub fn role(&self, field: &str) -> Role {
        let name = field.rsplit('.').next().unwrap_or(field).trim_end_matches("[]");
        let parts = words(name);
        if Self::listed(&self.neutral, name, &parts) {
            return Role::Plain;
        }
        if Self::listed(&self.guard, name, &parts) || guard_kind(name).is_some() {
            return Role::Guard;
        }
        if Self::listed(&self.authority, name, &parts) {
            return Role::Authority;
        }
        // A leading adjective of quantity makes a limit of anything: `max_file_size`.
        if parts.first().is_some_and(|word| matches!(word.as_str(), "max" | "min" | "per" | "num"))
        {
            return Role::Paging;
        }
        let last = parts.last().map(String::as_str).unwrap_or_default();
        if matches!(last, "limit" | "count" | "offset" | "cursor" | "size" | "format" | "lines") {
            return if last == "format" { Role::Presentation } else { Role::Paging };
        }
        let before_last = parts.len().checked_sub(2).map(|at| parts[at].as_str());
        if last == "token" && before_last.is_some_and(|word| WALKS.contains(&word)) {
            return Role::Paging;
        }
        let measures = MEASURES.contains(&last) || MEASURES.contains(&singular(last));
        // The type of an owner or of a credential is part of saying which.
        let says_which = matches!(last, "type" | "kind") && holds(AUTHORITY, &parts);
        if parts.len() > 1 && measures && !says_which {
            let pages = matches!(last, "num" | "idx" | "total" | "length");
            return if pages { Role::Paging } else { Role::Presentation };
        }
        if holds(FREE_FORM, &parts) {
            return Role::FreeForm;
        }
        if holds(AUTHORITY, &parts) || acts_as(&parts) {
            return Role::Authority;
        }
        if parts.first().is_some_and(|word| EFFECT.contains(&word.as_str()))
            && parts.len() > 1
            && !matches!(parts[0].as_str(), "skip")
        {
            return Role::Effect;
        }
        if parts.len() == 1 && PAGING.contains(&last) {
            return Role::Paging;
        }
        if holds(TARGET, &parts) {
            return Role::Target;
        }
        if holds(EFFECT, &parts) {
            return Role::Effect;
        }
        if parts.len() > 1 && last == "id" || last == "ids" {
            return Role::Target;
        }
        if holds(PAGING, &parts) {
            return Role::Paging;
        }
        if holds(PRESENTATION, &parts) {
            return Role::Presentation;
        }
        Role::Plain
    }

    /// What the field does in a call, by its name and the only kind of value that it takes: a
    /// switch selects nothing by itself, and a whole number beside `page` or `start` counts.
    pub fn role_of(&self, field: &str, kind: Option<&str>) -> Role {
        let role = self.role(field);
        let name = field.rsplit('.').next().unwrap_or(field).trim_end_matches("[]");
        let parts = words(name);
        let own = Self::listed(&self.authority, name, &parts);
        let selects = matches!(role, Role::Target | Role::Authority | Role::FreeForm);
        if own || !selects {
            return role;
        }
        match kind {
            Some("boolean") if role == Role::Authority && holds(SWITCHES, &parts) => role,
            Some("boolean") if holds(EFFECT, &parts) => Role::Effect,
            // Whether a text is fetched or run is what matters about it.
            Some("boolean") if role == Role::FreeForm => role,
            Some("boolean") => Role::Plain,
            Some("integer" | "number") => {
                let counts = |word: &String| {
                    matches!(
                        word.as_str(),
                        "page"
                            | "start"
                            | "end"
                            | "index"
                            | "number"
                            | "from"
                            | "to"
                            | "line"
                            | "row"
                    )
                };
                if parts.iter().all(counts) { Role::Paging } else { role }
            }
            _ => role,
        }
    }

    /// What the field does in a call, by its text where its name says nothing: `on_done`, a "shell command that runs
    /// when the job is done".
    pub fn role_said(&self, field: &str, kind: Option<&str>, text: &str) -> Role {
        let role = self.role_of(field, kind);
        let name = field.rsplit('.').next().unwrap_or(field).trim_end_matches("[]");
        let neutral = Self::listed(&self.neutral, name, &words(name));
        let holds_text = matches!(kind, None | Some("string" | "array" | "object"));
        if role != Role::Plain || neutral || !holds_text {
            return role;
        }
        let said = format!(" {} ", words(&text.to_lowercase()).join(" "));
        let said =
            |phrases: &[&str]| phrases.iter().any(|phrase| said.contains(&format!(" {phrase} ")));
        match () {
            () if said(IN_THE_NAME_OF) => Role::Authority,
            () if said(RUN_OR_FETCHED) => Role::FreeForm,
            () if said(REACHED) => Role::Target,
            () => role,
        }
    }

    /// True where a guessed value would choose who acts, on what, or past which guard (D5).
    pub fn never_guess(&self, field: &str) -> bool {
        self.role(field).is_guarded()
    }
}

/// `run_as`, `as_user`: the name says in whose name the call acts.
fn acts_as(parts: &[String]) -> bool {
    const DEEDS: &[&str] =
        &["run", "act", "acts", "login", "logon", "execute", "exec", "send", "post"];
    const WHO: &[&str] = &["user", "role", "admin", "bot", "root"];
    parts.windows(2).any(|pair| {
        pair[1] == "as" && DEEDS.contains(&pair[0].as_str())
            || pair[0] == "as" && WHO.contains(&pair[1].as_str())
    })
}

/// Which kind of guard, where the name alone says so.
pub fn guard_kind(field: &str) -> Option<GuardKind> {
    let name = field.rsplit('.').next().unwrap_or(field);
    let parts = words(name);
    let joined = parts.concat();
    // `approved_by_users` filters by approvers; `approved` is the yes itself.
    let says_yes = holds(CONFIRM, &parts) && parts.len() <= 3 && !parts.iter().any(|p| p == "by");
    if says_yes || joined == "yes" || joined == "iunderstand" {
        Some(GuardKind::Confirm)
    } else if parts.len() <= 2 && holds(FORCE, &parts) {
        Some(GuardKind::Force)
    } else if holds(DRY_RUN, &parts)
        || joined.contains("dryrun")
        || joined.contains("whatif")
        || joined.ends_with("only") && joined.starts_with("validate")
    {
        Some(GuardKind::DryRun)
    } else if holds(REVEAL, &parts)
        || joined.contains("showsecret")
        || joined.contains("includesecret")
        || joined.contains("showcredential")
    {
        Some(GuardKind::Reveal)
    } else if parts.last().is_some_and(|word| VERSION.contains(&word.as_str()))
        || joined.contains("ifmatch")
        || joined.contains("expectedversion")
        || joined.contains("lockversion")
    {
        Some(GuardKind::Version)
    } else {
        None
    }
}

/// The handle words of a name: `pageIdx` → `idx`.
pub fn handles(name: &str) -> Vec<String> {
    words(name).into_iter().filter(|word| HANDLE.contains(&word.as_str())).collect()
}

/// True where the field's value names one thing in the world: ids, keys, names, urls.
pub fn is_identifier(field: &str) -> bool {
    let name = field.rsplit('.').next().unwrap_or(field);
    let parts = words(name);
    parts.last().is_some_and(|word| {
        matches!(
            word.as_str(),
            "id" | "ids"
                | "uid"
                | "uuid"
                | "guid"
                | "key"
                | "arn"
                | "sha"
                | "iid"
                | "slug"
                | "number"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_split_alike_in_every_style() {
        for name in ["projectId", "project-id", "project_id", "ProjectID", "PROJECT_ID"] {
            assert_eq!(words(name), ["project", "id"], "{name}");
        }
        assert_eq!(words("HTTPServerURL"), ["http", "server", "url"]);
    }

    #[test]
    fn roles_come_from_word_parts() {
        let lexicon = Lexicon::default();
        for (field, role) in [
            ("region", Role::Target),
            ("accountIds", Role::Authority),
            ("repo_name", Role::Target),
            ("command", Role::FreeForm),
            ("dry_run", Role::Guard),
            ("confirmed", Role::Guard),
            ("max_results", Role::Paging),
            ("page_size", Role::Paging),
            ("delete_source", Role::Effect),
            ("sort_order", Role::Presentation),
            ("colour", Role::Presentation),
            ("run_as", Role::Authority),
            ("onBehalfOf", Role::Authority),
            ("save_as", Role::Effect),
            ("bcc", Role::Target),
        ] {
            assert_eq!(lexicon.role(field), role, "{field}");
        }
    }

    #[test]
    fn what_measures_or_switches_selects_nothing() {
        let lexicon = Lexicon::default();
        for (field, kind, role) in [
            ("profile", Some("boolean"), Role::Plain),
            ("fullPage", Some("boolean"), Role::Plain),
            ("remove_scripts", Some("boolean"), Role::Effect),
            ("private", Some("boolean"), Role::Authority),
            ("isUrl", Some("boolean"), Role::FreeForm),
            ("page", Some("integer"), Role::Paging),
            ("start_index", Some("integer"), Role::Paging),
            ("pageNum", None, Role::Paging),
            ("page_width", None, Role::Presentation),
            ("userAgent", None, Role::Presentation),
            ("resourceTypes", None, Role::Presentation),
            ("continuationToken", None, Role::Paging),
            ("token", Some("string"), Role::Authority),
            ("profile", Some("string"), Role::Authority),
            ("page", Some("string"), Role::Target),
            ("issue_number", Some("integer"), Role::Target),
            ("host", None, Role::Target),
            ("url", Some("string"), Role::FreeForm),
        ] {
            assert_eq!(lexicon.role_of(field, kind), role, "{field} {kind:?}");
        }
    }

    #[test]
    fn a_text_says_what_a_name_does_not() {
        let lexicon = Lexicon::default();
        for (field, text, role) in [
            ("done", "Shell command run when it is done", Role::FreeForm),
            ("condition", "SQL condition on the rows", Role::FreeForm),
            ("actor", "Act as this person", Role::Authority),
            ("extra", "HTTP headers to send", Role::Authority),
            ("copies", "Who gets a blind copy", Role::Target),
            ("body", "Text of the message", Role::Presentation),
        ] {
            assert_eq!(lexicon.role_said(field, Some("string"), text), role, "{field}: {text}");
        }
        let counted = lexicon.role_said("limit", Some("integer"), "Most recipients of one message");
        assert_eq!(counted, Role::Paging);
    }

    #[test]
    fn a_project_word_wins() {
        let lexicon = Lexicon {
            authority: vec!["warehouse".into()],
            guard: vec!["two_man".into()],
            neutral: vec!["region".into()],
        };
        assert_eq!(lexicon.role("warehouse_no"), Role::Authority);
        assert_eq!(lexicon.role("two_man_rule"), Role::Guard);
        assert_eq!(lexicon.role("region"), Role::Plain);
    }
}
