//! One request to one checked address, and what became of it.

use crate::binding::{Binding, Effect};
use crate::exact::{Exact, Slot};
use crate::guard;
use crate::limits;
use crate::origin::Host;
use crate::redact::{Redacted, Redactor};
use crate::request::Request;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::HeaderValue;
use hyper_util::rt::TokioIo;
use mcp::deed::{Deed, Unsent};
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
use vault::{Entry, Kind, VaultError, keeper};
use zeroize::Zeroizing;

/// What became of a request.
pub struct Sent {
    /// What is known of it, by what happened on the connection.
    pub outcome: Deed,
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
    pub fn not(kind: Unsent, why: impl Into<String>) -> Sent {
        Sent { notes: vec![why.into()], ..Sent::of(Deed::NotSent(kind)) }
    }

    /// An outcome, and nothing else so far.
    fn of(outcome: Deed) -> Sent {
        Sent { outcome, status: None, body: None, redacted: 0, credential: None, notes: Vec::new() }
    }
}

/// The credential as it is sent, and what is looked for in the answer.
struct Injected {
    value: HeaderValue,
    redactor: Redactor,
    entry: Entry,
}

/// What exactly a filled binding would send now. Asks the vault about its credential, and not for it.
pub async fn foretold(binding: &Binding, request: &Request, vault: &Path) -> Result<Exact, Why> {
    let entry = match binding.credential.clone() {
        None => None,
        Some(label) => {
            let (vault, origin) = (vault.to_owned(), binding.origin.to_string());
            let asked = tokio::task::spawn_blocking(move || keeper::about(&vault, &label, &origin));
            Some(asked.await.unwrap_or(Err(VaultError::Locked)).map_err(kept)?)
        }
    };
    Ok(Exact::of(binding, request, entry.as_ref()))
}

/// Why the vault gives nothing.
fn kept(why: VaultError) -> Why {
    let kind = match why {
        VaultError::Locked => Unsent::Locked,
        _ => Unsent::Credential,
    };
    (kind, why.to_string())
}

/// Carries out a filled binding, once. Where a person approved it, `approved` is the digest of what they approved, and
/// nothing else is sent.
pub async fn perform(
    binding: &Binding,
    request: &Request,
    vault: &Path,
    approved: Option<&str>,
) -> Sent {
    let connected = match connect(binding, resolved).await {
        Ok(connected) => connected,
        Err((kind, why)) => return Sent::not(kind, why),
    };
    // The place is settled: only now is the credential opened, for this origin.
    let injected = match inject(binding, vault).await {
        Ok(injected) => injected,
        Err((kind, why)) => return Sent::not(kind, why),
    };
    let exact = Exact::of(binding, request, injected.as_ref().map(|injected| &injected.entry));
    if approved.is_some_and(|approved| approved != exact.digest()) {
        return Sent::not(
            Unsent::Approval,
            "What would leave is not what was approved: the binding or its credential is another one by now.",
        );
    }
    let written = Arc::new(AtomicU64::new(0));
    let io = TokioIo::new(Counted { stream: connected, written: Arc::clone(&written) });
    let mut sent =
        match timeout(limits::ANSWER, exchange(binding, &exact, injected.as_ref(), io)).await {
            Ok(Ok(sent)) => sent,
            failed => {
                let why = if failed.is_err() {
                    "No answer came in time."
                } else {
                    "The connection broke before an answer came."
                };
                if written.load(Ordering::Acquire) == 0 {
                    return Sent::not(Unsent::Unreachable, why);
                }
                Sent { notes: vec![why.to_owned()], ..Sent::of(doubt(binding)) }
            }
        };
    sent.credential = injected.map(|injected| (injected.entry.label, injected.entry.version));
    sent
}

/// What a call without a whole answer came to: one that only reads changed nothing.
fn doubt(binding: &Binding) -> Deed {
    if binding.effect == Effect::Read { Deed::Failed } else { Deed::InDoubt }
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Why nothing left: its kind, and a sentence.
pub type Why = (Unsent, String);

/// The addresses of a name, as the system tells them.
async fn resolved(name: String, port: u16) -> Vec<IpAddr> {
    let found = timeout(limits::CONNECT, tokio::net::lookup_host((name.as_str(), port))).await;
    let found = found.ok().and_then(Result::ok).into_iter().flatten();
    found.map(|found| found.ip()).take(limits::ADDRESSES + 1).collect()
}

/// Resolves once, checks every address, and connects to one of those. The resolver is used up by the first answer.
async fn connect<F: Future<Output = Vec<IpAddr>>>(
    binding: &Binding,
    resolve: impl FnOnce(String, u16) -> F,
) -> Result<Box<dyn Stream>, Why> {
    let origin = &binding.origin;
    let addresses: Vec<IpAddr> = match &origin.host {
        Host::Address(address) => vec![*address],
        Host::Name(name) => resolve(name.clone(), origin.port).await,
    };
    if addresses.is_empty() || addresses.len() > limits::ADDRESSES {
        let why = format!("{} has no address, or too many to check.", origin.host);
        return Err((Unsent::Unreachable, why));
    }
    // One that is not allowed spoils the answer: a resolver that mixes them is not to be trusted with the rest.
    if let Some(bad) =
        addresses.iter().find(|address| !guard::allowed(**address, &binding.networks))
    {
        let why = format!(
            "{} leads to {bad}, which is not public. The binding can allow it: networks = [\"…/…\"].",
            origin.host
        );
        return Err((Unsent::Place, why));
    }
    let mut why = String::new();
    for address in addresses {
        let address = SocketAddr::new(address, origin.port);
        match timeout(limits::CONNECT, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                if stream.peer_addr().ok() != Some(address) {
                    let why =
                        "The connection leads to another address than the one that was checked.";
                    return Err((Unsent::Place, why.to_owned()));
                }
                let _ = stream.set_nodelay(true);
                return if origin.tls {
                    let encrypted = encrypted(&origin.host, stream).await;
                    encrypted.map_err(|why| (Unsent::Place, why))
                } else {
                    Ok(Box::new(stream))
                };
            }
            Ok(Err(error)) => why = error.kind().to_string(),
            Err(_) => why = "it did not answer in time".to_owned(),
        }
    }
    Err((Unsent::Unreachable, format!("{origin} cannot be reached: {why}.")))
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
async fn inject(binding: &Binding, vault: &Path) -> Result<Option<Injected>, Why> {
    let Some(label) = binding.credential.clone() else { return Ok(None) };
    let (vault, origin) = (vault.to_owned(), binding.origin.to_string());
    let asked = tokio::task::spawn_blocking(move || keeper::credential(&vault, &label, &origin));
    let (entry, secret) = asked.await.unwrap_or(Err(VaultError::Locked)).map_err(kept)?;
    let cannot = |why: &str| (Unsent::Credential, why.to_owned());
    let (bare, sent): (usize, Zeroizing<Vec<u8>>) = match &entry.kind {
        Kind::Bearer => (7, Zeroizing::new([b"Bearer ".as_slice(), secret.bytes()].concat())),
        Kind::Basic { user } => {
            let pair = Zeroizing::new([user.as_bytes(), b":", secret.bytes()].concat());
            let text = Zeroizing::new(STANDARD.encode(&*pair));
            (6, Zeroizing::new([b"Basic ".as_slice(), text.as_bytes()].concat()))
        }
        Kind::Header { .. } => (0, Zeroizing::new(secret.bytes().to_vec())),
    };
    // What stands behind the name of the scheme.
    let redactor = Redactor::new(&[secret.bytes(), &sent[bare..]])
        .ok_or_else(|| cannot("The credential is too long to be looked for in answers."))?;
    let mut value = HeaderValue::from_bytes(&sent)
        .map_err(|_| cannot("The credential cannot stand in a header."))?;
    value.set_sensitive(true);
    Ok(Some(Injected { value, redactor, entry }))
}

/// Sends the request and takes its answer. `Err` where no head of an answer came.
async fn exchange(
    binding: &Binding,
    exact: &Exact,
    injected: Option<&Injected>,
    io: TokioIo<Counted>,
) -> Result<Sent, hyper::Error> {
    let (mut sender, connection) =
        hyper::client::conn::http1::Builder::new().handshake::<_, Full<Bytes>>(io).await?;
    let _connection = AbortOnDrop(tokio::spawn(async move {
        let _ = connection.await;
    }));
    // Nothing is added to what was digested.
    let mut built =
        hyper::Request::builder().method(exact.method.as_str()).uri(exact.target.as_str());
    for (name, slot) in &exact.headers {
        built = match (slot, injected) {
            (Slot::Text(value), _) => built.header(name, value),
            (Slot::Credential, Some(injected)) => built.header(name, injected.value.clone()),
            (Slot::Credential, None) => built,
        };
    }
    let body = Full::new(Bytes::from(exact.body.clone()));
    let Ok(built) = built.body(body) else {
        let why = "The binding makes no request that HTTP can carry.";
        return Ok(Sent::not(Unsent::Binding, why));
    };
    let answer = sender.send_request(built).await?;
    let status = answer.status().as_u16();
    let encoded = answer
        .headers()
        .get_all("content-encoding")
        .iter()
        .any(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity"));
    let mut sent = Sent { status: Some(status), ..Sent::of(judged(binding, status)) };
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
fn judged(binding: &Binding, status: u16) -> Deed {
    match status {
        200..300 => Deed::Done,
        408 | 500.. => doubt(binding),
        _ => Deed::Failed,
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::sync::atomic::AtomicUsize;

    /// A listener of this machine, and a binding to it by a name.
    fn bound() -> (TcpListener, Binding) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let text = format!(
            "[bindings.x]\ndescription = \"d\"\norigin = \"http://localhost:{port}\"\nmethod = \"GET\"\npath = \"/\"\neffect = \"read\"\nnetworks = [\"127.0.0.0/8\"]\n"
        );
        (listener, crate::binding::read("a.toml", &text, &[]).unwrap().remove(0))
    }

    #[tokio::test]
    async fn a_resolver_that_lies_is_asked_once_and_its_whole_answer_is_checked() {
        let (listener, binding) = bound();
        let asked = AtomicUsize::new(0);
        let lying = |answers: &[&str]| {
            let answers = answers.iter().map(|text| text.parse().unwrap()).collect::<Vec<IpAddr>>();
            let asked = &asked;
            move |name: String, _| {
                assert_eq!(name, "localhost");
                asked.fetch_add(1, Ordering::SeqCst);
                async move { answers }
            }
        };
        let many = vec!["127.0.0.1"; limits::ADDRESSES + 1];
        for (answers, why) in [
            // Right at first, and another one among them.
            (&["127.0.0.1", "10.0.0.1"][..], Unsent::Place),
            (&["10.0.0.1", "127.0.0.1"], Unsent::Place),
            (&["127.0.0.1", "::ffff:10.0.0.1"], Unsent::Place),
            (&["127.0.0.1", "64:ff9b::a00:1"], Unsent::Place),
            (&["127.0.0.1", "169.254.169.254"], Unsent::Place),
            (&["::1"], Unsent::Place),
            (&[], Unsent::Unreachable),
            (&many, Unsent::Unreachable),
        ] {
            let refused = connect(&binding, lying(answers)).await.err().unwrap();
            assert_eq!(refused.0, why, "{answers:?}: {}", refused.1);
        }
        let nobody = listener.accept().err().unwrap().kind();
        assert_eq!(nobody, io::ErrorKind::WouldBlock, "nothing was connected to");
        // Where the first address does not answer, the next of the same answer is tried: nobody is asked again.
        let before = asked.load(Ordering::SeqCst);
        assert!(connect(&binding, lying(&["127.0.0.2", "127.0.0.1"])).await.is_ok());
        assert_eq!(asked.load(Ordering::SeqCst), before + 1);
        assert!(listener.accept().is_ok());
    }
}
