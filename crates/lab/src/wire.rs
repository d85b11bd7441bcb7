//! How servers of the lab, which are processes of their own, speak to the recorder.

use crate::limits;
use crate::recorder::{Heard, Signals};

/// A line to the recorder.
#[derive(Debug, Clone)]
pub struct Wire {
    recorder: String,
    client: reqwest::Client,
}

impl Wire {
    /// A line to the recorder at this address.
    ///
    /// # Errors
    /// Where this machine gives no resources for it.
    pub fn to(recorder: &str) -> Result<Wire, String> {
        // The TLS library wants to know its cryptography even where no TLS is spoken.
        mcp::http::cryptography();
        let client = reqwest::Client::builder()
            .no_proxy()
            .timeout(limits::REQUEST)
            .build()
            .map_err(|why| why.to_string())?;
        Ok(Wire { recorder: recorder.to_owned(), client })
    }

    /// The address of the recorder.
    pub fn recorder(&self) -> &str {
        &self.recorder
    }

    /// The phase that holds; with `not`, waits a while for another one.
    ///
    /// # Errors
    /// Where the recorder is gone.
    pub async fn phase(&self, not: Option<usize>) -> Result<usize, String> {
        let query = not.map_or(String::new(), |not| format!("?not={not}"));
        let text = self.get(&format!("/lab/phase{query}")).await?;
        text.parse().map_err(|_| format!("the recorder names no phase but {text}"))
    }

    /// What the recorder tells besides the phase; with what is known, waits a while for more.
    ///
    /// # Errors
    /// Where the recorder is gone.
    pub async fn signals(&self, known: Option<Signals>) -> Result<Signals, String> {
        let query = known.map_or(String::new(), |known| {
            format!("?rings={}&crashes={}", known.rings, known.crashes)
        });
        let text = self.get(&format!("/lab/signals{query}")).await?;
        serde_json::from_str(&text).map_err(|why| why.to_string())
    }

    /// Puts a call on record as it arrived.
    ///
    /// # Errors
    /// Where it could not be recorded.
    pub async fn heard(&self, call: &Heard) -> Result<(), String> {
        let body = serde_json::to_string(call).map_err(|why| why.to_string())?;
        self.post("/lab/calls", body).await
    }

    /// Says that a list was asked for, before it is answered.
    ///
    /// # Errors
    /// Where the recorder is gone.
    pub async fn listed(&self) -> Result<(), String> {
        self.post("/lab/lists", String::new()).await
    }

    /// Says that a call had its effect, or none, before it is answered.
    ///
    /// # Errors
    /// Where the recorder is gone.
    pub async fn settled(&self) -> Result<(), String> {
        self.post("/lab/settled", String::new()).await
    }

    /// Says at which address this server can be reached.
    ///
    /// # Errors
    /// Where the recorder is gone.
    pub async fn address(&self, address: &str) -> Result<(), String> {
        self.post("/lab/address", address.to_owned()).await
    }

    /// Says that this process ends because it was told to.
    ///
    /// # Errors
    /// Where the recorder is gone.
    pub async fn ended(&self) -> Result<(), String> {
        self.post("/lab/ended", String::new()).await
    }

    /// Says that the server is another one now, or why it could not be made one.
    ///
    /// # Errors
    /// Where the recorder is gone.
    pub async fn switched(&self, why_not: Option<&str>) -> Result<(), String> {
        self.post("/lab/switched", why_not.unwrap_or_default().to_owned()).await
    }

    /// Makes a request that stands for an effect in the world.
    ///
    /// # Errors
    /// Where it did not go through.
    pub async fn effect(&self, method: &str, path: &str, body: String) -> Result<(), String> {
        let method: reqwest::Method =
            method.parse().map_err(|_| format!("{method} is no method"))?;
        let request = self.client.request(method, format!("{}{path}", self.recorder)).body(body);
        let answer = request.send().await.map_err(|why| why.to_string())?;
        match answer.status().is_success() {
            true => Ok(()),
            false => Err(format!("the recorder answered {}", answer.status())),
        }
    }

    /// Makes a request elsewhere: the hook of a switch.
    ///
    /// # Errors
    /// Where it did not go through, or was answered with anything but success.
    pub async fn request(&self, method: &str, address: &str) -> Result<(), String> {
        let method: reqwest::Method =
            method.parse().map_err(|_| format!("{method} is no method"))?;
        let answer =
            self.client.request(method, address).send().await.map_err(|why| why.to_string())?;
        if answer.status().is_success() {
            Ok(())
        } else {
            Err(format!("it answered {}", answer.status()))
        }
    }

    async fn get(&self, path: &str) -> Result<String, String> {
        let url = format!("{}{path}", self.recorder);
        let answer = self.client.get(url).send().await.map_err(|why| why.to_string())?;
        answer.text().await.map_err(|why| why.to_string())
    }

    async fn post(&self, path: &str, body: String) -> Result<(), String> {
        let request = self.client.post(format!("{}{path}", self.recorder));
        let sent = request.header("content-type", "application/json").body(body).send().await;
        let answer = sent.map_err(|why| why.to_string())?;
        if answer.status().is_success() {
            Ok(())
        } else {
            Err(format!("the recorder answered {}", answer.status()))
        }
    }
}
