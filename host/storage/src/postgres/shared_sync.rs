//! The stream below the driver, in which statements that travel together share one synchronisation.
//!
//! The driver ends each request with a Sync, and at each the server sends what it has, starts to wait and looks for more: some system
//! calls per statement. This stream leaves out all of them but the last one of a round trip, and gives the driver the end of each
//! answer that it waits for.
//!
//! The rule: statements run in the same order, and those behind one that failed do not run. A transaction that has failed refuses
//! them; here the server skips them up to the Sync, a COMMIT among them too.

use bytes::{Buf as _, BytesMut};
use std::{
    collections::VecDeque,
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, TlsStream};

/// Kind and length, which counts itself and not the kind.
const HEADER: usize = 5;
const READ_BYTES: usize = 8 * 1024;

const EXECUTE: u8 = b'E';
const QUERY: u8 = b'Q';
const SYNC: u8 = b'S';

const COMMAND_COMPLETE: u8 = b'C';
const EMPTY_QUERY: u8 = b'I';
const ERROR: u8 = b'E';
const READY: u8 = b'Z';
/// "Ready, in a transaction": nobody reads the state.
const READY_MESSAGE: [u8; 6] = [READY, 0, 0, 0, 5, b'T'];

/// How many of the next statements end with one Sync. Shared by a stream and who sends on it.
#[derive(Clone, Debug, Default)]
pub(crate) struct SyncSharing(Arc<AtomicUsize>);

impl SyncSharing {
    /// The driver has these statements, and has not written them.
    pub(crate) fn share(&self, statements: usize) {
        self.0.store(statements, Relaxed);
    }

    /// Whether the Sync of the next statement is left out.
    fn take(&self) -> bool {
        let left = self.0.load(Relaxed);
        self.0.store(left.saturating_sub(1), Relaxed);
        left > 1
    }
}

/// How an answer ends on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnswerEnd {
    /// The server says that it is ready.
    Ready,
    /// With the statement itself.
    Statement,
}

/// The client's side of a connection.
pub(super) struct SharedSync<S> {
    stream: S,
    sharing: SyncSharing,
    requests: Requests,
    answers: Answers,
    /// Not written yet.
    outgoing: BytesMut,
    /// For the driver.
    incoming: BytesMut,
    read: Box<[u8]>,
}

impl<S> SharedSync<S> {
    pub(super) fn new(stream: S, sharing: SyncSharing) -> Self {
        Self {
            stream,
            sharing,
            requests: Requests::default(),
            answers: Answers::default(),
            outgoing: BytesMut::new(),
            incoming: BytesMut::new(),
            read: vec![0; READ_BYTES].into(),
        }
    }
}

impl<S: AsyncWrite + Unpin> SharedSync<S> {
    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.outgoing.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(cx, &self.outgoing))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.outgoing.advance(written);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for SharedSync<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while this.incoming.is_empty() {
            let mut read = ReadBuf::new(&mut this.read);
            ready!(Pin::new(&mut this.stream).poll_read(cx, &mut read))?;
            if read.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            this.answers.pass(read.filled(), &mut this.requests.answer_ends, &mut this.incoming)?;
        }
        let length = this.incoming.len().min(buffer.remaining());
        buffer.put_slice(&this.incoming.split_to(length));
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for SharedSync<S> {
    /// Takes all, once everything before it is written.
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        ready!(this.poll_drain(cx))?;
        this.requests.pass(bytes, &this.sharing, &mut this.outgoing)?;
        if let Poll::Ready(Err(error)) = this.poll_drain(cx) {
            return Poll::Ready(Err(error));
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_drain(cx))?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_drain(cx))?;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl<S: TlsStream + Unpin> TlsStream for SharedSync<S> {
    fn channel_binding(&self) -> ChannelBinding {
        self.stream.channel_binding()
    }
}

/// What the driver sends.
#[derive(Debug, Default)]
struct Requests {
    /// The first message of a connection has no kind.
    has_begun: bool,
    /// A statement runs since the last Sync.
    executes: bool,
    /// Of the answers that have not ended.
    answer_ends: VecDeque<AnswerEnd>,
}

impl Requests {
    /// The driver writes whole messages.
    fn pass(&mut self, mut bytes: &[u8], sharing: &SyncSharing, outgoing: &mut BytesMut) -> io::Result<()> {
        if !self.has_begun {
            self.has_begun = true;
            outgoing.extend_from_slice(bytes);
            return Ok(());
        }
        while let Some((kind, length)) = header(bytes)? {
            let (message, rest) = bytes.split_at_checked(length).ok_or_else(unreadable)?;
            bytes = rest;
            match kind {
                SYNC if std::mem::take(&mut self.executes) && sharing.take() => {
                    self.answer_ends.push_back(AnswerEnd::Statement);
                    continue;
                }
                SYNC | QUERY => self.answer_ends.push_back(AnswerEnd::Ready),
                EXECUTE => self.executes = true,
                _ => {}
            }
            outgoing.extend_from_slice(message);
        }
        if bytes.is_empty() { Ok(()) } else { Err(unreadable()) }
    }
}

/// What the server sends.
#[derive(Debug, Default)]
struct Answers {
    /// The beginning of a message whose header is not complete.
    head: BytesMut,
    /// The kind of the message that is passed, and how much of it is left.
    message: Option<(u8, usize)>,
}

impl Answers {
    fn pass(&mut self, mut bytes: &[u8], ends: &mut VecDeque<AnswerEnd>, incoming: &mut BytesMut) -> io::Result<()> {
        while !bytes.is_empty() {
            let (kind, left) = match self.message.take() {
                Some(message) => message,
                None => {
                    let (more, rest) = bytes.split_at(bytes.len().min(HEADER - self.head.len()));
                    self.head.extend_from_slice(more);
                    bytes = rest;
                    let Some((kind, length)) = header(&self.head)? else { return Ok(()) };
                    incoming.extend_from_slice(&self.head);
                    self.head.clear();
                    (kind, length - HEADER)
                }
            };
            let (body, rest) = bytes.split_at(bytes.len().min(left));
            incoming.extend_from_slice(body);
            bytes = rest;
            if body.len() < left {
                self.message = Some((kind, left - body.len()));
            } else {
                end_answer(kind, ends, incoming);
            }
        }
        Ok(())
    }
}

/// A message has passed. Where the driver waits for more than the server sends, it gets it.
fn end_answer(kind: u8, ends: &mut VecDeque<AnswerEnd>, incoming: &mut BytesMut) {
    match (kind, ends.front()) {
        (READY, Some(AnswerEnd::Ready)) => drop(ends.pop_front()),
        (COMMAND_COMPLETE | EMPTY_QUERY, Some(AnswerEnd::Statement)) => {
            ends.pop_front();
            incoming.extend_from_slice(&READY_MESSAGE);
        }
        // The statements up to the next Sync are skipped.
        (ERROR, Some(AnswerEnd::Statement)) => {
            while ends.pop_front_if(|end| *end == AnswerEnd::Statement).is_some() {
                incoming.extend_from_slice(&READY_MESSAGE);
            }
        }
        _ => {}
    }
}

/// Kind and length of the message that begins here, as far as it is there.
fn header(bytes: &[u8]) -> io::Result<Option<(u8, usize)>> {
    let Some((&[kind, a, b, c, d], _)) = bytes.split_first_chunk::<HEADER>() else { return Ok(None) };
    let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).map_err(|_| unreadable())?;
    if length < HEADER - 1 { Err(unreadable()) } else { Ok(Some((kind, length + 1))) }
}

fn unreadable() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a message of the database's protocol cannot be read")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};

    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
        [&[kind], &length[..], body].concat()
    }

    /// Bind, Execute and Sync.
    fn statement(name: &str) -> Vec<u8> {
        [message(b'B', name.as_bytes()), message(EXECUTE, b""), message(SYNC, b"")].concat()
    }

    fn kinds(mut bytes: &[u8]) -> String {
        let mut kinds = String::new();
        while let Some((kind, length)) = header(bytes).unwrap() {
            kinds.push(char::from(kind));
            bytes = &bytes[length..];
        }
        assert!(bytes.is_empty());
        kinds
    }

    struct Fixture {
        client: SharedSync<DuplexStream>,
        sharing: SyncSharing,
        server: DuplexStream,
    }

    impl Fixture {
        /// A connection that has begun.
        async fn new() -> Self {
            let (near, server) = duplex(1 << 16);
            let sharing = SyncSharing::default();
            let mut fixture = Self { client: SharedSync::new(near, sharing.clone()), sharing, server };
            fixture.client.write_all(b"\0\0\0\x08user").await.unwrap();
            assert_eq!(fixture.sent().await, b"\0\0\0\x08user");
            let greeting = [message(b'R', b"\0\0\0\0"), message(READY, b"I")].concat();
            assert_eq!(fixture.answer(&greeting).await, "RZ");
            fixture
        }

        /// What the server gets.
        async fn ask(&mut self, bytes: &[u8]) -> String {
            self.client.write_all(bytes).await.unwrap();
            kinds(&self.sent().await)
        }

        async fn sent(&mut self) -> Vec<u8> {
            let mut bytes = vec![0; 1 << 16];
            let length = self.server.read(&mut bytes).await.unwrap();
            bytes.truncate(length);
            bytes
        }

        /// What the driver gets, when the answer comes a few bytes at a time.
        async fn answer(&mut self, bytes: &[u8]) -> String {
            let mut got = Vec::new();
            for piece in bytes.chunks(3) {
                self.server.write_all(piece).await.unwrap();
                let mut read = vec![0; 1 << 16];
                let reading = tokio::time::timeout(std::time::Duration::from_millis(5), self.client.read(&mut read));
                if let Ok(length) = reading.await {
                    got.extend_from_slice(&read[..length.unwrap()]);
                }
            }
            kinds(&got)
        }
    }

    fn complete() -> Vec<u8> {
        [message(b'2', b""), message(COMMAND_COMPLETE, b"INSERT 0 1\0")].concat()
    }

    #[tokio::test]
    async fn statements_that_share_a_sync_get_an_answer_each() {
        let mut fixture = Fixture::new().await;
        fixture.sharing.share(3);
        let asked = fixture.ask(&["a", "b", "c"].map(statement).concat()).await;
        assert_eq!(asked, "BEBEBES");
        let row = [message(b'2', b""), message(b'D', b"row"), message(COMMAND_COMPLETE, b"SELECT 1\0")].concat();
        let answers = [complete(), row, message(b'2', b""), message(EMPTY_QUERY, b""), message(READY, b"T")].concat();
        assert_eq!(fixture.answer(&answers).await, "2CZ2DCZ2IZ");
        assert_eq!(fixture.ask(&["d", "e"].map(statement).concat()).await, "BESBES", "nobody said that they share one");
        let answers = [complete(), message(READY, b"T"), complete(), message(READY, b"T")].concat();
        assert_eq!(fixture.answer(&answers).await, "2CZ2CZ");
    }

    #[tokio::test]
    async fn those_behind_a_failed_statement_end_with_it() {
        let mut fixture = Fixture::new().await;
        fixture.sharing.share(4);
        fixture.ask(&["a", "b", "c", "d"].map(statement).concat()).await;
        let answers = [complete(), message(ERROR, b"no"), message(READY, b"E")].concat();
        // Of the last one the server itself says that it has ended.
        assert_eq!(fixture.answer(&answers).await, "2CZEZZZ");
        assert_eq!(fixture.ask(&message(QUERY, b"ROLLBACK\0")).await, "Q");
        let answers = [message(COMMAND_COMPLETE, b"ROLLBACK\0"), message(READY, b"I")].concat();
        assert_eq!(fixture.answer(&answers).await, "CZ");
    }

    #[tokio::test]
    async fn what_runs_nothing_keeps_its_sync() {
        let mut fixture = Fixture::new().await;
        let close = [message(b'C', b"Ss1\0"), message(SYNC, b"")].concat();
        // Its answer is still on its way when the statements are sent.
        assert_eq!(fixture.ask(&close).await, "CS");
        fixture.sharing.share(2);
        let asked = fixture.ask(&[close, statement("a"), statement("b")].concat()).await;
        assert_eq!(asked, "CSBEBES");
        let closed = || [message(b'3', b""), message(READY, b"I")].concat();
        let answers = [closed(), closed(), message(b'N', b"a notice"), complete(), complete(), message(READY, b"T")];
        assert_eq!(fixture.answer(&answers.concat()).await, "3Z3ZN2CZ2CZ");
    }

    #[tokio::test]
    async fn a_length_that_cannot_be_is_an_error() {
        let mut fixture = Fixture::new().await;
        fixture.server.write_all(&[COMMAND_COMPLETE, 0, 0, 0, 3]).await.unwrap();
        let error = fixture.client.read(&mut [0; 16]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        let error = fixture.client.write_all(b"Q\0\0").await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
