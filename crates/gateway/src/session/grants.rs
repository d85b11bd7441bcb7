//! What was granted of a tool, and what a definition is granted that nobody looked at.
//!
//! The first contract seen is granted where nothing ever was. No client moves that: not by an era, nor by credentials that
//! are new to the server, nor by a name that goes and comes back.

use super::Session;
use crate::catalogue::Catalogue;
use crate::heavy::heavy;
use contract::admission::Compare;
use contract::{Authority, Revised};
use std::sync::Arc;
use store::{Grant, GrantHow, NewGrant};

/// What was granted of a tool.
#[derive(Debug, Default)]
pub(crate) struct Granted {
    /// As far as it stands for what is live.
    pub(crate) stands: Option<Arc<Revised>>,
    /// What was granted of a name that went and came back as something else: what is live is measured by it.
    pub(crate) lapsed: Option<Arc<Revised>>,
}

impl Session {
    /// The granted contract of a tool, and whether it stands for what is live.
    pub(crate) async fn granted(&self, tool: &str, live: &str) -> Result<Granted, String> {
        let server = self.upstream.name().to_owned();
        let grant = self.hub.store.grant_of(server, self.scope(), tool.to_owned());
        let Some(grant) = grant.await.map_err(|why| why.to_string())? else {
            return Ok(Granted::default());
        };
        let of = Some(self.definition_of(&grant).await?);
        Ok(if grant.stands_for(live) {
            Granted { stands: of, lapsed: None }
        } else {
            Granted { stands: None, lapsed: of }
        })
    }

    /// The contract of a grant. One that cannot be read is no absence of a grant.
    async fn definition_of(&self, grant: &Grant) -> Result<Arc<Revised>, String> {
        let tool = &grant.tool;
        let live = self.upstream.live(tool).into_iter().find(|live| live.digest() == grant.digest);
        if let Some(live) = live {
            return Ok(live);
        }
        let server = self.upstream.name().to_owned();
        let raw = self.hub.store.definition(server, tool.clone(), grant.digest.clone());
        let raw = raw.await.map_err(|why| why.to_string())?;
        raw.and_then(|raw| self.hub.definitions.read(tool, &raw))
            // A text that was put in its place grants nothing.
            .filter(|revised| revised.digest() == grant.digest)
            .ok_or_else(|| {
                format!("what was granted of {tool} is on no record that can be read and is that")
            })
    }

    /// Grants what is listed and was never seen before in this scope, as far as no other scope says that it is too much.
    pub(super) async fn grant_first_seen(
        &self,
        catalogue: &Catalogue,
        at: u64,
    ) -> Result<(), String> {
        let (server, scope) = (self.upstream.name().to_owned(), self.scope());
        let granted = self.hub.store.grants(server.clone()).await.map_err(|why| why.to_string())?;
        let new = |tool: &str| Grant::in_scope(&granted, &scope, tool).is_none();
        let revisions = catalogue.tools().flat_map(|(_, revisions)| revisions);
        for revised in revisions.filter(|revised| new(revised.name())) {
            let others: Vec<&Grant> =
                granted.iter().filter(|grant| grant.tool == revised.name()).collect();
            let grant = NewGrant {
                server: server.clone(),
                scope: scope.clone(),
                tool: revised.name().to_owned(),
                digest: self.as_elsewhere(revised, &others).await?,
                how: GrantHow::FirstSeen,
                by: self.principal.clone(),
                at,
            };
            self.hub.store.grant(grant).await.map_err(|why| why.to_string())?;
        }
        Ok(())
    }

    /// The digest of what a tool is granted that is new in this scope: itself, where it reaches no further than what some
    /// other scope was granted of it; else what was granted there.
    async fn as_elsewhere(
        &self,
        revised: &Arc<Revised>,
        others: &[&Grant],
    ) -> Result<String, String> {
        let own = revised.digest().to_owned();
        if others.iter().any(|grant| grant.digest == own) {
            return Ok(own);
        }
        // What a person accepted goes before what was merely seen, and the last before the others.
        let by_weight = |grant: &&&Grant| (grant.how != GrantHow::FirstSeen, grant.at);
        let Some(weightiest) = others.iter().max_by_key(by_weight) else { return Ok(own) };
        for grant in others {
            let (old, new) = (self.definition_of(grant).await?, Arc::clone(revised));
            let hub = Arc::clone(&self.hub);
            let entry = heavy(move || hub.comparisons.compare(&old, &new)).await?;
            let more = |authority| matches!(authority, Authority::Wider | Authority::Unknown);
            let within =
                entry.is_none_or(|entry| !entry.changes.iter().any(|c| more(c.axes.authority)));
            if within {
                return Ok(own);
            }
        }
        let told = format!(
            "{} is listed with more reach than was granted of it in another scope, and is granted no more than that here",
            revised.name()
        );
        self.tell("changed", Some(revised.name()), None, &told);
        Ok(weightiest.digest.clone())
    }

    /// A person accepted a tool whose definition went back and forth, as it is listed now: that ends the doubt about it.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub(crate) async fn heed_accepted(&self) -> Result<(), String> {
        for tool in self.upstream.alternating() {
            let server = self.upstream.name().to_owned();
            let grant = self.hub.store.grant_of(server, self.scope(), tool.clone());
            let grant = grant.await.map_err(|why| why.to_string())?;
            if let Some(grant) = grant.filter(|grant| grant.how == GrantHow::Accepted)
                && self.upstream.hold_still(&tool, &grant.digest, grant.at)
            {
                let told = format!(
                    "{tool} was accepted as it is listed: it no longer counts as going back and forth"
                );
                self.tell("changed", Some(&tool), None, &told);
            }
        }
        Ok(())
    }
}
