//! Where an action goes, against places and settings that would have it go elsewhere: certificates of strangers, proxy
//! variables, and files that would give a session's keys away.

use crate::bound::{Judge, binding};
use crate::live::{Era, Live, code};
use lab::Recorder;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

type Authority = CertifiedIssuer<'static, KeyPair>;

/// An authority of its own.
fn authority() -> Authority {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A server under TLS, with a certificate for a name: its port, and what it read of requests.
async fn encrypted(by: &Authority, name: &str) -> (u16, Arc<Mutex<String>>) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    let own = params.signed_by(&key, &**by).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![own.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let seen: Arc<Mutex<String>> = Arc::default();
    let kept = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // Who does not take the certificate is gone.
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut buffer = vec![0; 8192];
            while !kept.lock().unwrap().ends_with('}') {
                let count = stream.read(&mut buffer).await.unwrap_or(0);
                if count == 0 {
                    break;
                }
                kept.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..count]));
            }
            let _ = stream.write_all(b"HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\n{}").await;
            let _ = stream.shutdown().await;
        }
    });
    (port, seen)
}

/// `wrap` with bindings, where these variables are set.
async fn wrapped(bindings: &str, environment: &[(&str, &str)]) -> Live {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("actions.toml");
    std::fs::write(&file, bindings).unwrap();
    let recorder = Recorder::start().await.unwrap();
    let flags = ["--bindings", file.to_str().unwrap()];
    let mut live =
        Live::wrapped_where(environment, Era::Legacy, folder, recorder, &flags, &[]).await;
    live.greet().await;
    live.list().await;
    live
}

fn trusting(folder: &Path, authority: &Authority) -> String {
    let file = folder.join("authority.pem");
    std::fs::write(&file, authority.pem()).unwrap();
    file.display().to_string()
}

fn secured(name: &str, port: u16) -> String {
    binding(name, port, "")
        .replace("http://127.0.0.1", "https://localhost")
        .replace("[\"127.0.0.0/8\"]", "[\"127.0.0.0/8\", \"::1/128\"]")
}

#[tokio::test(flavor = "multi_thread")]
async fn under_tls_only_a_server_with_the_certificate_of_its_name_gets_a_request() {
    let (known, stranger) = (authority(), authority());
    let (port, seen) = encrypted(&known, "localhost").await;
    let (other_name, seen_by_other) = encrypted(&known, "elsewhere.example").await;
    let (unknown, seen_by_unknown) = encrypted(&stranger, "localhost").await;
    // One that speaks no TLS is told nothing that it could read.
    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    let plain_port = plain.local_addr().unwrap().port();
    let heard: Arc<Mutex<Vec<u8>>> = Arc::default();
    let kept = Arc::clone(&heard);
    std::thread::spawn(move || {
        for mut stream in plain.incoming().map_while(Result::ok) {
            let mut buffer = [0; 4096];
            let count = stream.read(&mut buffer).unwrap_or(0);
            kept.lock().unwrap().extend_from_slice(&buffer[..count]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let bindings = secured("good", port)
        + &secured("other", other_name)
        + &secured("unknown", unknown)
        + &secured("plain", plain_port);
    let folder = tempfile::tempdir().unwrap();
    let trusted = trusting(folder.path(), &known);
    // Where a library would write the keys of its sessions, it does not.
    let keys = folder.path().join("keys.log");
    let environment =
        [("SSL_CERT_FILE", trusted.as_str()), ("SSLKEYLOGFILE", keys.to_str().unwrap())];
    let mut live = wrapped(&bindings, &environment).await;
    let arguments = json!({"project": "shop"});
    let good = live.call("good", arguments.clone()).await;
    assert_eq!(good["result"]["structuredContent"]["outcome"], "done", "{good}");
    assert!(seen.lock().unwrap().starts_with("POST /good HTTP/1.1\r\nhost: localhost:"));
    for tool in ["other", "unknown", "plain"] {
        let answer = live.call(tool, arguments.clone()).await;
        assert_eq!(code(&answer), "ACTION_NOT_SENT", "{answer}");
        let reason = &answer["result"]["_meta"]["steadfast/refusal"]["reason"];
        assert_eq!(reason, "place", "{answer}");
    }
    assert_eq!(*seen_by_other.lock().unwrap(), "");
    assert_eq!(*seen_by_unknown.lock().unwrap(), "");
    let heard = String::from_utf8_lossy(&heard.lock().unwrap()).into_owned();
    assert!(!heard.is_empty() && !heard.contains("/plain") && !heard.contains("shop"), "{heard:?}");
    live.leave().await;
    assert!(!keys.exists(), "the keys of a session were written");
}

#[tokio::test]
async fn no_proxy_variable_leads_an_action_elsewhere() {
    let judge = Judge::start();
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    std::thread::spawn(move || {
        for mut stream in proxy.incoming().map_while(Result::ok) {
            counted.fetch_add(1, Ordering::SeqCst);
            let _ = stream.read(&mut [0; 1024]);
        }
    });
    let names =
        ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    let environment: Vec<(&str, &str)> =
        names.iter().map(|name| (*name, address.as_str())).collect();
    let mut live = wrapped(&binding("plain", judge.port, ""), &environment).await;
    let done: Value = live.call("plain", json!({"project": "shop"})).await;
    assert_eq!(done["result"]["structuredContent"]["outcome"], "done", "{done}");
    assert_eq!((judge.seen().len(), asked.load(Ordering::SeqCst)), (1, 0));
    live.leave().await;
}
