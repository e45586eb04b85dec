//! A server of the Model Context Protocol on stdin and stdout: an agent looks up what a compaction took from it.
//!
//! What goes wrong inside a tool is an answer with words, for the model to read; the server goes on. Nothing leaves with
//! what looks like a secret, and no answer is longer than a model can take.

mod answer;
mod resources;
mod tools;

use std::{
    io::{self, IsTerminal as _},
    sync::Arc,
};

use anyhow::{Context as _, Result};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities,
        ServerConfig,
    },
    service::RequestContext,
};

use crate::args::StoreArgs;

/// What is said to a model that may use the tools.
const INSTRUCTIONS: &str = "longhaul keeps what was said in agents' sessions before a compaction took it out of the context. When a \
    summary names a message (m12) or an id, or you miss a detail from earlier, look it up with `recall` before asking the user or \
    doing it again. `context` says how full the window is; `sessions` lists what is on this machine.";

/// Serves until the client closes the connection.
///
/// # Errors
/// When the client does not begin as the protocol says.
pub(crate) fn serve(store: &StoreArgs) -> Result<()> {
    if io::stdin().is_terminal() {
        say!(
            "an agent speaks to this, not a person: docs/agents.md says how it is named to one; Ctrl-C ends it"
        );
    }
    let server = Server { store: Arc::new(store.clone()) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("the async runtime does not start")?.block_on(async {
        let running = server.serve(rmcp::transport::stdio_pipes()).await;
        running.context("no MCP client speaks on stdin")?.waiting().await?;
        Ok(())
    })
}

#[derive(Clone, Debug)]
struct Server {
    store: Arc<StoreArgs>,
}

impl Server {
    /// Does `work` beside the connection: it reads files, and waits for the store. A fault of ours ends the work, not the
    /// server.
    async fn done<T: Send + 'static>(
        &self,
        work: impl FnOnce(&StoreArgs) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let store = Arc::clone(&self.store);
        tokio::task::spawn_blocking(move || work(&store)).await.context("longhaul has a fault here")?
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("longhaul", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::all()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let answered = self.done(move |store| tools::call(store, &request.name, request.arguments)).await;
        let result = match answered {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(answer::fitting(&text))]),
            Err(error) => CallToolResult::error(vec![ContentBlock::text(answer::refusal(&error))]),
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listed = self.done(resources::all).await;
        Ok(ListResourcesResult::with_all_items(listed.map_err(internal)?))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.clone();
        let read = self.done(move |store| resources::read(store, &uri)).await;
        let text = read.map_err(|error| ErrorData::resource_not_found(answer::refusal(&error), None))?;
        Ok(ReadResourceResult::new(vec![resources::contents(&request.uri, &answer::fitting(&text))]).into())
    }
}

fn internal(error: anyhow::Error) -> ErrorData {
    ErrorData::internal_error(answer::refusal(&error), None)
}
