//! What a person accepts: exactly what was shown becomes the granted contract.

use crate::status::{Remembered, RememberedTool};
use contract::{Diff, Options, Tool, ToolList};
use store::{GrantHow, Millis, NewGrant, Store, StoreError};

/// True where what is listed is not what was granted.
pub fn is_open(tool: &RememberedTool) -> bool {
    let Some(advertised) = &tool.advertised else { return false };
    tool.granted.as_ref().is_none_or(|granted| {
        granted.revision.digest != advertised.digest || granted.gone_at.is_some()
    })
}

/// What the store remembers of these tools, on both sides; or the name of one that it does not.
///
/// # Errors
/// Where the store cannot be read.
pub async fn difference(
    store: &dyn Store,
    server: &str,
    moved: &[&RememberedTool],
) -> Result<Result<Diff, String>, StoreError> {
    let (mut old, mut new) = (ToolList::default(), ToolList::default());
    for tool in moved {
        let granted = tool.granted.as_ref().map(|granted| &granted.revision);
        for (side, revision) in [(&mut old, granted), (&mut new, tool.advertised.as_ref())] {
            let Some(revision) = revision else { continue };
            let known = defined(store, server, &tool.tool, &revision.digest, revision.ordinal);
            let Some(known) = known.await? else { return Ok(Err(tool.tool.clone())) };
            side.tools.push(known);
        }
    }
    Ok(Ok(contract::tools::diff(&old, &new, &Options::default())))
}

/// A definition as the store remembers it; `None` where it does not.
///
/// # Errors
/// Where the store cannot be read.
pub async fn defined(
    store: &dyn Store,
    server: &str,
    tool: &str,
    digest: &str,
    ordinal: Option<u64>,
) -> Result<Option<Tool>, StoreError> {
    let known = store.definition(server.to_owned(), tool.to_owned(), digest.to_owned()).await?;
    let raw = known.and_then(|text| serde_json::from_str(&text).ok());
    Ok(raw.map(|raw| Tool { name: tool.to_owned(), raw, ordinal }))
}

/// Grants what is listed of these tools.
///
/// # Errors
/// Where the store cannot be written; the tools before the one that failed are granted.
pub async fn grant(
    store: &dyn Store,
    known: &Remembered,
    moved: &[&RememberedTool],
    by: &str,
    at: Millis,
) -> Result<(), StoreError> {
    for tool in moved {
        let Some(advertised) = &tool.advertised else { continue };
        let grant = NewGrant {
            server: known.server.clone(),
            scope: known.scope.clone(),
            tool: tool.tool.clone(),
            digest: advertised.digest.clone(),
            how: GrantHow::Accepted,
            by: by.to_owned(),
            at,
        };
        store.grant(grant).await?;
    }
    Ok(())
}
