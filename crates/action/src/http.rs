//! One request to one checked address, and what became of it.

use crate::binding::{Binding, Effect};
use crate::guard;
use crate::limits;
use crate::origin::Host;
use crate::redact::{Redacted, Redactor};
use crate::request::Request;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderName, HeaderValue};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls_platform_verifier::BuilderVerifierExt as _;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;
use vault::{Kind, VaultError, keeper};
use zeroize::Zeroizing;

/// What is known of a request, by what happened on the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Not one byte of it left.
    NotSent,
    /// It was answered as done.
    Done,
    /// It was answered as not done.
    Failed,
    /// Some of it left, and whether it was done is not known.
    InDoubt,
}

impl Outcome {
    /// Its word in results.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::NotSent => "not_sent",
            Outcome::Done => "done",
            Outcome::Failed => "failed",
            Outcome::InDoubt => "in_doubt",
        }
    }
}

/// What became of a request.
pub struct Sent {
    /// What is known of it.
    pub outcome: Outcome,
    /// The status of the answer.
    pub status: Option<u16>,
    /// The answer, without the credential.
    pub body: Option<String>,
    /// How often the credential was cut out of it.
    pub redacted: usize,
    /// Label and version of the credential that went with it.
    pub credential: Option<(String, u32)>,
    /// What else is to be known, in sentences.
    pub notes: Vec<String>,
}

impl Sent {
    /// Nothing left; why.
    pub fn not(why: impl Into<String>) -> Sent {
        Sent {
            outcome: Outcome::NotSent,
            status: None,
            body: None,
            redacted: 0,
            credential: None,
            notes: vec![why.into()],
        }
    }
}

/// Header, value as it is sent, and what is looked for in the answer.
struct Injected {
    name: HeaderName,
    value: HeaderValue,
    redactor: Redactor,
    label: String,
    version: u32,
}

/// Carries out a filled binding, once.
pub async fn perform(binding: &Binding, request: &Request, vault: &Path) -> Sent {
    let connected = match connect(binding).await {
        Ok(connected) => connected,
        Err(why) => return Sent::not(why),
    };
    // The place is settled: only now is the credential opened, for this origin.
    let injected = match inject(binding, vault).await {
        Ok(injected) => injected,
        Err(why) => return Sent::not(why),
    };
    let written = Arc::new(AtomicU64::new(0));
    let io = TokioIo::new(Counted { stream: connected, written: Arc::clone(&written) });
    let mut sent =
        match timeout(limits::ANSWER, exchange(binding, request, injected.as_ref(), io)).await {
            Ok(Ok(sent)) => sent,
            failed => {
                let why = if failed.is_err() {
                    "No answer came in time."
                } else {
                    "The connection broke before an answer came."
                };
                if written.load(Ordering::Acquire) == 0 {
                    return Sent::not(why);
                }
                Sent { outcome: doubt(binding), ..Sent::not(why) }
            }
        };
    sent.credential = injected.map(|injected| (injected.label, injected.version));
    sent
}

/// What a call without a whole answer came to: one that only reads changed nothing.
fn doubt(binding: &Binding) -> Outcome {
    if binding.effect == Effect::Read { Outcome::Failed } else { Outcome::InDoubt }
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Resolves once, checks every address, and connects to one of those.
async fn connect(binding: &Binding) -> Result<Box<dyn Stream>, String> {
    let origin = &binding.origin;
    let addresses: Vec<IpAddr> = match &origin.host {
        Host::Address(address) => vec![*address],
        Host::Name(name) => {
            let found =
                timeout(limits::CONNECT, tokio::net::lookup_host((name.as_str(), origin.port)));
            let found = found.await.ok().and_then(Result::ok).into_iter().flatten();
            found.map(|found| found.ip()).take(limits::ADDRESSES + 1).collect()
        }
    };
    if addresses.is_empty() || addresses.len() > limits::ADDRESSES {
        return Err(format!("{} has no address, or too many to check.", origin.host));
    }
    // One that is not allowed spoils the answer: a resolver that mixes them is not to be trusted with the rest.
    if let Some(bad) =
        addresses.iter().find(|address| !guard::allowed(**address, &binding.networks))
    {
        return Err(format!(
            "{} leads to {bad}, which is not public. The binding can allow it: networks = [\"…/…\"].",
            origin.host
        ));
    }
    let mut why = String::new();
    for address in addresses {
        let address = SocketAddr::new(address, origin.port);
        match timeout(limits::CONNECT, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                if stream.peer_addr().ok() != Some(address) {
                    return Err(
                        "The connection leads to another address than the one that was checked."
                            .to_owned(),
                    );
                }
                let _ = stream.set_nodelay(true);
                return if origin.tls {
                    encrypted(&origin.host, stream).await
                } else {
                    Ok(Box::new(stream))
                };
            }
            Ok(Err(error)) => why = error.kind().to_string(),
            Err(_) => why = "it did not answer in time".to_owned(),
        }
    }
    Err(format!("{origin} cannot be reached: {why}."))
}

async fn encrypted(host: &Host, stream: TcpStream) -> Result<Box<dyn Stream>, String> {
    let name = match host {
        Host::Name(name) => ServerName::try_from(name.clone())
            .map_err(|_| "The host is no name of a certificate.".to_owned())?,
        Host::Address(address) => ServerName::from(*address),
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_platform_verifier())
        .map_err(|why| format!("TLS is not to be had here: {why}."))?
        .with_no_client_auth();
    let handshake = tokio_rustls::TlsConnector::from(Arc::new(config)).connect(name, stream);
    match timeout(limits::CONNECT, handshake).await {
        Ok(Ok(stream)) => Ok(Box::new(stream)),
        Ok(Err(error)) => {
            Err(format!("The server's certificate or handshake was refused: {error}."))
        }
        Err(_) => Err("The handshake did not end in time.".to_owned()),
    }
}

/// Asks for the credential and makes the header of it.
async fn inject(binding: &Binding, vault: &Path) -> Result<Option<Injected>, String> {
    let Some(label) = binding.credential.clone() else { return Ok(None) };
    let (vault, origin) = (vault.to_owned(), binding.origin.to_string());
    let asked = tokio::task::spawn_blocking(move || keeper::credential(&vault, &label, &origin));
    let (entry, secret) =
        asked.await.unwrap_or(Err(VaultError::Locked)).map_err(|why| why.to_string())?;
    let (name, sent): (&str, Zeroizing<Vec<u8>>) = match &entry.kind {
        Kind::Bearer => {
            ("authorization", Zeroizing::new([b"Bearer ".as_slice(), secret.bytes()].concat()))
        }
        Kind::Basic { user } => {
            let pair = Zeroizing::new([user.as_bytes(), b":", secret.bytes()].concat());
            let text = Zeroizing::new(STANDARD.encode(&*pair));
            ("authorization", Zeroizing::new([b"Basic ".as_slice(), text.as_bytes()].concat()))
        }
        Kind::Header { name } => (name, Zeroizing::new(secret.bytes().to_vec())),
    };
    let bare = sent.iter().position(|byte| *byte == b' ').map_or(0, |at| at + 1);
    let redactor = Redactor::new(&[
        secret.bytes(),
        if name == "authorization" { &sent[bare..] } else { &sent },
    ])
    .ok_or("The credential is too long to be looked for in answers.")?;
    let name = HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| "The header of the credential is none.")?;
    let mut value =
        HeaderValue::from_bytes(&sent).map_err(|_| "The credential cannot stand in a header.")?;
    value.set_sensitive(true);
    Ok(Some(Injected { name, value, redactor, label: entry.label, version: entry.version }))
}

/// Sends the request and takes its answer. `Err` where no head of an answer came.
async fn exchange(
    binding: &Binding,
    request: &Request,
    injected: Option<&Injected>,
    io: TokioIo<Counted>,
) -> Result<Sent, hyper::Error> {
    let (mut sender, connection) =
        hyper::client::conn::http1::Builder::new().handshake::<_, Full<Bytes>>(io).await?;
    let _connection = AbortOnDrop(tokio::spawn(async move {
        let _ = connection.await;
    }));
    let mut built = hyper::Request::builder()
        .method(binding.method.as_str())
        .uri(request.target.as_str())
        .header("host", binding.origin.authority())
        .header("accept", "application/json, text/*;q=0.5")
        // What is compressed could not be scanned.
        .header("accept-encoding", "identity")
        .header("user-agent", concat!("steadfast/", env!("CARGO_PKG_VERSION")));
    for (name, value) in &binding.headers {
        built = built.header(name, value);
    }
    if let Some(injected) = injected {
        built = built.header(injected.name.clone(), injected.value.clone());
    }
    if request.body.is_some() {
        built = built.header("content-type", "application/json");
    }
    let body = Full::new(Bytes::from(request.body.clone().unwrap_or_default()));
    let Ok(built) = built.body(body) else {
        return Ok(Sent::not("The binding makes no request that HTTP can carry."));
    };
    let answer = sender.send_request(built).await?;
    let status = answer.status().as_u16();
    let encoded = answer
        .headers()
        .get_all("content-encoding")
        .iter()
        .any(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity"));
    let mut sent = Sent { outcome: judged(binding, status), status: Some(status), ..Sent::not("") };
    sent.notes.clear();
    if (300..400).contains(&status) {
        sent.notes.push("The server sends the caller on to another address. That was not followed: it would be another action.".to_owned());
    }
    let withheld = |sent: &mut Sent, why: &str| {
        sent.notes.push(format!("The answer is withheld: {why}."));
    };
    match whole(answer.into_body()).await {
        Body::Cut => {
            sent.outcome = doubt(binding);
            sent.notes.push("The connection broke in the middle of the answer.".to_owned());
        }
        Body::TooLong => withheld(&mut sent, "it is longer than is scanned for the credential"),
        Body::Whole(_) if encoded => withheld(
            &mut sent,
            "it is compressed although that was not asked for, and cannot be scanned for the credential",
        ),
        Body::Whole(bytes) => {
            let cleaned = match injected {
                Some(injected) => injected.redactor.clean(&bytes),
                None => match String::from_utf8(bytes) {
                    Ok(text) => Redacted::Text(text, 0),
                    Err(_) => Redacted::Withheld("it is not text in UTF-8"),
                },
            };
            match cleaned {
                Redacted::Text(text, count) => {
                    sent.body = Some(text);
                    sent.redacted = count;
                    if count > 0 {
                        sent.notes.push(format!("The server sent the credential back (places: {count}); it was cut out. Rotate it, and ask why: steadfast vault rotate."));
                    }
                }
                Redacted::Withheld(why) => withheld(&mut sent, why),
            }
        }
    }
    Ok(sent)
}

/// What a status says. An error of the server says nothing about what it did before.
fn judged(binding: &Binding, status: u16) -> Outcome {
    match status {
        200..300 => Outcome::Done,
        408 | 500.. => doubt(binding),
        _ => Outcome::Failed,
    }
}

enum Body {
    Whole(Vec<u8>),
    TooLong,
    Cut,
}

async fn whole(mut body: Incoming) -> Body {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return Body::Cut };
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > limits::BODY {
            return Body::TooLong;
        }
        bytes.extend_from_slice(&data);
    }
    Body::Whole(bytes)
}

struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Counts what was handed to the connection: nothing is only said not to have left where that is nothing.
struct Counted {
    stream: Box<dyn Stream>,
    written: Arc<AtomicU64>,
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Counted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write(cx, bytes);
        if let Poll::Ready(Ok(count)) = done {
            self.written.fetch_add(count as u64, Ordering::AcqRel);
        }
        done
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
