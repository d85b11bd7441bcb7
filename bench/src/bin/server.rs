//! The server behind every path: 200 tools on a pipe, answers at once. `read_note` reads, `write_note` has an effect.

use serde_json::{Value, json};
use std::io::{BufRead, Write};

const TOOLS: usize = 200;

fn tool(name: &str, reads: bool) -> Value {
    json!({
        "name": name,
        "description": "Takes a note's id and answers with its text.",
        "annotations": {"readOnlyHint": reads},
        "inputSchema": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "Id of the note"},
                "format": {"type": "string", "enum": ["text", "html"]},
                "limit": {"type": "integer", "minimum": 1, "maximum": 100}
            },
            "required": ["id"]
        },
        "outputSchema": {
            "type": "object",
            "properties": {"id": {"type": "string"}, "text": {"type": "string"}},
            "required": ["id", "text"]
        }
    })
}

fn main() -> std::io::Result<()> {
    let mut tools = vec![tool("read_note", true), tool("write_note", false)];
    tools.extend((tools.len()..TOOLS).map(|n| tool(&format!("read_other_{n}"), true)));
    let answer = json!({"id": "n-1", "text": "what the note says"});
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line?) else { continue };
        let Some(id) = message.get("id") else { continue };
        let result = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {"listChanged": true}},
                "serverInfo": {"name": "bench", "version": "1"},
            }),
            Some("ping") => json!({}),
            Some("tools/list") => json!({ "tools": tools }),
            Some("tools/call") => json!({
                "content": [{"type": "text", "text": answer.to_string()}],
                "structuredContent": answer,
            }),
            _ => {
                let error = json!({"code": -32601, "message": "Method not found"});
                writeln!(out, "{}", json!({"jsonrpc": "2.0", "id": id, "error": error}))?;
                out.flush()?;
                continue;
            }
        };
        writeln!(out, "{}", json!({"jsonrpc": "2.0", "id": id, "result": result}))?;
        out.flush()?;
    }
    Ok(())
}
