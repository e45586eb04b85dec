//! TLS to the server: with another machine always, and verified against the roots that this one trusts.

use std::{
    error::Error,
    future::Future,
    io,
    net::IpAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use rustls::{ClientConfig, pki_types::ServerName};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::{
    Config,
    config::{Host, SslMode},
    tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream},
};
use tokio_rustls::TlsConnector;

/// Has `config` go in the clear on this machine and under TLS elsewhere, unless its URL says `sslmode=disable` or
/// `sslmode=require`. Said by nobody, the mode is "as the server likes", and so as whoever sits in between likes.
pub(super) fn secure(config: &mut Config) {
    if config.get_ssl_mode() == SslMode::Prefer {
        config.ssl_mode(if is_near(config) { SslMode::Disable } else { SslMode::Require });
    }
}

/// Returns whether no host is another machine.
fn is_near(config: &Config) -> bool {
    let is_loopback = |address: IpAddr| address.to_canonical().is_loopback();
    let addresses = config.get_hostaddrs();
    // An address is where the connection goes, whatever the host is called.
    if !addresses.is_empty() {
        return addresses.iter().all(|address| is_loopback(*address));
    }
    config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => name == "localhost" || name.parse().is_ok_and(is_loopback),
        Host::Unix(_) => true,
    })
}

/// Makes connections under TLS.
#[derive(Clone)]
pub(super) struct Tls(TlsConnector);

/// A connection to be made to the server of a name.
pub(super) struct Named {
    tls: TlsConnector,
    name: ServerName<'static>,
}

/// A connection under TLS.
pub(super) struct Secured<S>(Box<tokio_rustls::client::TlsStream<S>>);

type Trouble = Box<dyn Error + Send + Sync>;

impl Tls {
    /// Returns what connects under the roots that the machine trusts, or those in the file that `SSL_CERT_FILE` names.
    ///
    /// # Errors
    /// When there are none.
    pub(super) fn new() -> Result<Tls, rustls::Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let config = config.with_platform_verifier()?.with_no_client_auth();
        Ok(Tls(TlsConnector::from(Arc::new(config))))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = Secured<S>;
    type TlsConnect = Named;
    type Error = Trouble;

    fn make_tls_connect(&mut self, domain: &str) -> Result<Named, Trouble> {
        Ok(Named { tls: self.0.clone(), name: ServerName::try_from(domain.to_owned())? })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Named {
    type Stream = Secured<S>;
    type Error = Trouble;
    type Future = Pin<Box<dyn Future<Output = Result<Secured<S>, Trouble>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let secured = self.tls.connect(self.name, stream).await;
            secured.map(|stream| Secured(Box::new(stream))).map_err(told)
        })
    }
}

/// Returns what went wrong: a certificate that is not trusted is no trouble on the way, and does not pass.
fn told(error: io::Error) -> Trouble {
    let refused = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()).cloned();
    refused.map_or_else(|| error.into(), Trouble::from)
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Secured<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Secured<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_read(cx, buf)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Secured<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_to_other_machines_under_tls_only() {
        for (url, expected) in [
            ("postgres://u@localhost/db", SslMode::Disable),
            ("postgres://u@127.0.0.1:5433/db", SslMode::Disable),
            ("postgres://u@[::1]/db", SslMode::Disable),
            ("postgres://u@%2Fvar%2Frun%2Fpostgresql/db", SslMode::Disable),
            ("postgres://u@localhost/db?sslmode=require", SslMode::Require),
            ("postgres://u@db.example.org/db", SslMode::Require),
            ("postgres://u@db.example.org/db?sslmode=prefer", SslMode::Require),
            ("postgres://u@db.example.org/db?sslmode=disable", SslMode::Disable),
            ("postgres://u@localhost,10.0.0.7/db", SslMode::Require),
            ("postgres://u@localhost/db?hostaddr=10.0.0.7", SslMode::Require),
        ] {
            let mut config: Config = url.parse().unwrap();
            secure(&mut config);
            assert_eq!(config.get_ssl_mode(), expected, "{url}");
        }
    }
}
