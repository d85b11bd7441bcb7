//! A connection that is kept: tools are listed and called on it, in the era that the server speaks.

use crate::client::Client;
use crate::error::{Failure, FetchError};
use crate::fetch::{FetchOptions, Target};
use crate::list::{self, Broken, Listed};
use crate::message::Message;
use crate::open::{self, Greeting};
use crate::version::Era;
use std::time::Duration;

/// A connection to a server. Dropping it ends a child process at once; [`Live::close`] does so politely.
pub struct Live {
    client: Client,
    greeting: Greeting,
    options: FetchOptions,
    place: String,
}

impl Live {
    /// Connects, and finds out which era the server speaks.
    ///
    /// # Errors
    /// One error with everything that was found wrong and what the server itself said.
    pub async fn open(target: &Target, options: &FetchOptions) -> Result<Live, FetchError> {
        let place = target.to_string();
        let (client, greeting) = open::open(target, options, &place).await?;
        Ok(Live { client, greeting, options: options.clone(), place })
    }

    /// The server says that it tells of changes of its list: `tools.listChanged`.
    pub fn announces_changes(&self) -> bool {
        self.greeting.announces_changes()
    }

    /// Reads the whole list, until two readings agree.
    ///
    /// # Errors
    /// Where the list cannot be read whole.
    pub async fn tools(&mut self) -> Result<Vec<Listed>, FetchError> {
        let settled =
            list::settle(&mut self.client, &self.greeting, &self.options, &self.place).await;
        match settled {
            Ok(settled) => Ok(settled.reading.tools),
            Err(Broken::Error(error) | Broken::Moved(error) | Broken::SessionLost(error)) => {
                let said = self.client.said().await;
                Err(error.having_said(said))
            }
        }
    }

    /// Calls a tool, once. `arguments` is an object in raw JSON. An error of the protocol is [`Failure::Rpc`].
    ///
    /// # Errors
    /// Where no result comes.
    pub async fn call(
        &mut self,
        tool: &str,
        arguments: &str,
        wait: Duration,
    ) -> Result<Message, Failure> {
        let name = serde_json::Value::from(tool);
        let meta = match self.client.revision().era {
            Era::Modern => format!(",\"_meta\":{}", open::meta(self.client.revision())),
            Era::Legacy => String::new(),
        };
        let params = format!("{{\"name\":{name},\"arguments\":{arguments}{meta}}}");
        self.client.ask_named("tools/call", Some(tool), &params, wait).await
    }

    /// Ends the connection.
    pub async fn close(self) {
        self.client.close().await;
    }
}
