//! A plain pass-through proxy, as one writes it with the official SDK: what comes in is asked of the server behind.
//!
//! `passthrough COMMAND [ARGUMENT…]`

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{Peer, RequestContext, RoleClient, RoleServer, ServiceError};
use rmcp::transport::{TokioChildProcess, stdio};
use rmcp::{ServerHandler, ServiceExt};

#[derive(Clone)]
struct Through(Peer<RoleClient>);

fn passed(error: ServiceError) -> ErrorData {
    match error {
        ServiceError::McpError(error) => error,
        other => ErrorData::internal_error(other.to_string(), None),
    }
}

impl ServerHandler for Through {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.0.list_tools(request).await.map_err(passed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.0.call_tool(request).await.map(CallToolResponse::from).map_err(passed)
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let program = words.next().ok_or("name the command of a server")?;
    let mut command = tokio::process::Command::new(program);
    command.args(words);
    let upstream = ().serve(TokioChildProcess::new(command)?).await?;
    let service = Through(upstream.peer().clone()).serve(stdio()).await?;
    service.waiting().await?;
    Ok(())
}
