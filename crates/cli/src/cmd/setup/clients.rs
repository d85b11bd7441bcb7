//! Which clients are known, and where each keeps its configuration.

use std::path::PathBuf;

/// A client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Client {
    /// Claude Desktop
    ClaudeDesktop,
    /// Claude Code: .mcp.json of the project, and ~/.claude.json
    ClaudeCode,
    /// Cursor: .cursor/mcp.json of the project and of the user
    Cursor,
    /// VS Code: .vscode/mcp.json of the project, and mcp.json of the user
    Vscode,
    /// Windsurf
    Windsurf,
    /// Gemini CLI: .gemini/settings.json of the project and of the user
    Gemini,
    /// Codex: config.toml
    Codex,
}

/// How a client writes its configuration.
pub enum Kind {
    /// JSON, perhaps with comments. Servers stand in tables at these places; `*` is every member.
    Json(&'static [&'static [&'static str]]),
    /// TOML, with tables below `mcp_servers`.
    Toml,
}

impl Client {
    /// What is typed for it.
    pub fn name(self) -> &'static str {
        match self {
            Client::ClaudeDesktop => "claude-desktop",
            Client::ClaudeCode => "claude-code",
            Client::Cursor => "cursor",
            Client::Vscode => "vscode",
            Client::Windsurf => "windsurf",
            Client::Gemini => "gemini",
            Client::Codex => "codex",
        }
    }

    /// How it writes its configuration.
    pub fn kind(self) -> Kind {
        match self {
            Client::ClaudeCode => Kind::Json(&[&["mcpServers"], &["projects", "*", "mcpServers"]]),
            Client::Vscode => Kind::Json(&[&["servers"], &["mcp", "servers"]]),
            Client::Codex => Kind::Toml,
            _ => Kind::Json(&[&["mcpServers"]]),
        }
    }

    /// Where it looks, the project's own file first.
    pub fn places(self) -> Vec<PathBuf> {
        let absolute = |name: &str| {
            std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
        };
        let home = absolute("HOME").unwrap_or_default();
        let mac = cfg!(target_os = "macos");
        let support = if mac {
            home.join("Library/Application Support")
        } else {
            absolute("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"))
        };
        match self {
            Client::ClaudeDesktop => vec![support.join("Claude/claude_desktop_config.json")],
            Client::ClaudeCode => vec![".mcp.json".into(), home.join(".claude.json")],
            Client::Cursor => vec![".cursor/mcp.json".into(), home.join(".cursor/mcp.json")],
            Client::Vscode => vec![".vscode/mcp.json".into(), support.join("Code/User/mcp.json")],
            Client::Windsurf => vec![home.join(".codeium/windsurf/mcp_config.json")],
            Client::Gemini => {
                vec![".gemini/settings.json".into(), home.join(".gemini/settings.json")]
            }
            Client::Codex => {
                let folder = absolute("CODEX_HOME").unwrap_or_else(|| home.join(".codex"));
                vec![folder.join("config.toml")]
            }
        }
    }
}
