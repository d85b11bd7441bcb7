//! Speak MCP as raw JSON: stdio and Streamable HTTP, both protocol eras.
