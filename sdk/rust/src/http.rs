//! HTTP for the REST interface and the control plane, over one stack.

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
#[cfg(feature = "relay")]
use http::HeaderMap;
use http::{Request, Response, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Builder, Client};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

pub(crate) type Connector = HttpsConnector<HttpConnector>;
pub(crate) type BoxError = Box<dyn StdError + Send + Sync>;

/// A dead connection is noticed after one of these and the time below.
const KEEP_ALIVE: Duration = Duration::from_secs(30);
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(10);

/// An answer with its whole body.
#[cfg(feature = "relay")]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// HTTP/1.1 without redirects: a key is only sent to the given host.
#[derive(Clone)]
pub(crate) struct Http {
    client: Client<Connector, Full<Bytes>>,
}

impl Http {
    pub(crate) fn new(tls: &Arc<ClientConfig>) -> Self {
        let connector = builder(tls).enable_http1().wrap_connector(tcp());
        Self {
            client: client_builder().build(connector),
        }
    }

    /// Fails if the body is longer than `bytes_max`.
    #[cfg(feature = "relay")]
    pub(crate) async fn send(
        &self,
        request: Request<Full<Bytes>>,
        bytes_max: usize,
    ) -> Result<Answer, BoxError> {
        read_answer(self.open(request).await?, bytes_max).await
    }

    /// An answer whose body is still to be read.
    pub(crate) async fn open(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, BoxError> {
        Ok(self.client.request(request).await?)
    }
}

/// Fails if the body is longer than `bytes_max`.
#[cfg(feature = "relay")]
pub(crate) async fn read_answer(
    answer: Response<Incoming>,
    bytes_max: usize,
) -> Result<Answer, BoxError> {
    let (parts, body) = answer.into_parts();
    Ok(Answer {
        status: parts.status.as_u16(),
        headers: parts.headers,
        body: read_body(body, bytes_max).await?,
    })
}

/// Fails if the body is longer than `bytes_max`.
pub(crate) async fn read_body(body: Incoming, bytes_max: usize) -> Result<Bytes, BoxError> {
    Ok(Limited::new(body, bytes_max).collect().await?.to_bytes())
}

/// A client that speaks HTTP/2 only, without negotiation where there is no TLS.
pub(crate) fn http2<B>(tls: &Arc<ClientConfig>) -> Client<Connector, B>
where
    B: hyper::body::Body + Send,
    B::Data: Send,
{
    let connector = builder(tls).enable_http2().wrap_connector(tcp());
    client_builder()
        .http2_only(true)
        .http2_keep_alive_interval(KEEP_ALIVE)
        .http2_keep_alive_timeout(KEEP_ALIVE_TIMEOUT)
        .build(connector)
}

fn client_builder() -> Builder {
    let mut builder = Client::builder(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new());
    builder
}

fn builder(
    tls: &Arc<ClientConfig>,
) -> HttpsConnectorBuilder<hyper_rustls::builderstates::WantsProtocols1> {
    HttpsConnectorBuilder::new()
        .with_tls_config(ClientConfig::clone(tls))
        .https_or_http()
}

fn tcp() -> HttpConnector {
    let mut tcp = HttpConnector::new();
    // The layer above it speaks TLS.
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp
}

/// Trust in the given certificates, or else in those of the system.
pub(crate) fn tls(ca_pem: Option<&[u8]>) -> Result<Arc<ClientConfig>, BoxError> {
    let mut roots = RootCertStore::empty();
    match ca_pem {
        Some(pem) => {
            for certificate in CertificateDer::pem_slice_iter(pem) {
                roots.add(certificate.map_err(|error| error.to_string())?)?;
            }
            if roots.is_empty() {
                return Err("there is no certificate in it".into());
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

/// An address that begins with `http://` or `https://`, without slashes at its end.
pub(crate) fn read_url(text: &str) -> Option<Uri> {
    let uri: Uri = text.trim_end_matches('/').parse().ok()?;
    let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
    let is_plain = uri.query().is_none() && !text.contains(['#', '@']);
    (is_http && is_plain && uri.host().is_some_and(|host| !host.is_empty())).then_some(uri)
}

/// What is percent-encoded; `None` if it is not UTF-8.
pub(crate) fn decode(text: &str) -> Option<String> {
    let (first, others) = text
        .split_once('%')
        .map_or((text, None), |(first, others)| (first, Some(others)));
    let mut bytes = first.as_bytes().to_vec();
    for part in others.into_iter().flat_map(|others| others.split('%')) {
        let (digits, rest) = part.split_at_checked(2)?;
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        bytes.push(is_hex.then(|| u8::from_str_radix(digits, 16).ok())??);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

/// A segment of a path, as `encodeURIComponent` writes it.
pub(crate) fn encode(segment: &str) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(segment.len());
    for byte in segment.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) {
            text.push(char::from(byte));
        } else {
            // Writing to a String does not fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}
