//! A TCP proxy between a gateway and PostgreSQL that makes the way longer, as between two zones.
//!
//! The rule: each way takes the same time, and nothing else changes. What is sent while earlier bytes are on their way is
//! not held up by them, so a client that waits for no answer pays the delay once.

mod delay_queue;
mod timer;

use crate::{
    load,
    pin::{self, PinnedRole},
};
use anyhow::{Context as _, Result};
use delay_queue::DelayQueue;
use std::{
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{
            AtomicBool, AtomicU64,
            Ordering::{Relaxed, SeqCst},
        },
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
use timer::Timer;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::{TcpListener, TcpStream, UnixStream},
    select,
    sync::oneshot,
};

const READ_BYTES: usize = 64 * 1024;

/// Runs on a thread of its own; dropping it closes all connections.
pub struct DelayProxy {
    address: SocketAddr,
    round_trips: Arc<AtomicU64>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl DelayProxy {
    /// In front of the server at this Unix socket; `delay` is the time for one way.
    pub fn start(socket: &Path, delay: Duration) -> Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let round_trips = Arc::<AtomicU64>::default();
        let link = Link { socket: socket.into(), delay, round_trips: round_trips.clone() };
        let serve = async move {
            select! {
                served = accept(listener, link) => served,
                _ = stopped => Ok(()),
            }
        };
        let thread = thread::spawn(|| {
            let done = pin::on(PinnedRole::Load, || load::block_on(serve)).flatten().flatten();
            if let Err(error) = done {
                eprintln!("the proxy before PostgreSQL ended: {error:#}");
            }
        });
        Ok(Self { address, round_trips, stop: Some(stop), thread: Some(thread) })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How often a client sent something after it had an answer to all before, since the start, over all connections.
    pub fn round_trips(&self) -> u64 {
        self.round_trips.load(Relaxed)
    }
}

impl Drop for DelayProxy {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // Its panic is on the terminal already.
            let _ = thread.join();
        }
    }
}

/// What all connections share.
#[derive(Clone)]
struct Link {
    socket: PathBuf,
    delay: Duration,
    round_trips: Arc<AtomicU64>,
}

async fn accept(listener: std::net::TcpListener, link: Link) -> Result<()> {
    let listener = TcpListener::from_std(listener)?;
    loop {
        let (client, _) = listener.accept().await?;
        let link = link.clone();
        tokio::spawn(async move {
            // One side is gone, which the other side sees.
            let _ = pass(client, &link).await;
        });
    }
}

async fn pass(client: TcpStream, link: &Link) -> Result<()> {
    client.set_nodelay(true)?;
    let server = UnixStream::connect(&link.socket).await.context("PostgreSQL")?;
    let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
    // As the client sees it: an answer counts when it has arrived there.
    let is_answered = AtomicBool::new(true);
    let asked = || {
        if is_answered.swap(false, SeqCst) {
            link.round_trips.fetch_add(1, Relaxed);
        }
    };
    let answered = || is_answered.store(true, SeqCst);
    let there = forward(from_client, to_server, link.delay, asked, || ());
    let back = forward(from_server, to_client, link.delay, || (), answered);
    select! {
        ended = back => ended,
        Err(error) = there => Err(error),
    }
}

/// Passes bytes on until there are no more; `arrived` and `delivered` are called at the two ends of the way.
async fn forward(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    delay: Duration,
    arrived: impl Fn(),
    delivered: impl Fn(),
) -> Result<()> {
    let mut queue = DelayQueue::new(delay);
    let mut timer = Timer::new()?;
    let mut buffer = vec![0; READ_BYTES];
    let mut has_ended = false;
    while !has_ended || queue.next_due().is_some() {
        select! {
            read = from.read(&mut buffer), if !has_ended => match read? {
                0 => has_ended = true,
                bytes => {
                    arrived();
                    queue.push(Instant::now(), &buffer[..bytes]);
                }
            },
            due = timer.until(queue.next_due()) => {
                due?;
                let bytes = queue.take_due(Instant::now());
                delivered();
                to.write_all(&bytes).await?;
            }
        }
    }
    Ok(to.shutdown().await?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};

    const DELAY: Duration = Duration::from_millis(50);

    /// A server that sends everything back.
    fn echo(socket: &Path) -> Result<()> {
        let listener = std::os::unix::net::UnixListener::bind(socket)?;
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                thread::spawn(move || std::io::copy(&mut &stream, &mut &stream));
            }
        });
        Ok(())
    }

    #[test]
    fn each_round_trip_takes_both_ways_and_what_is_sent_meanwhile_takes_no_more() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let socket = folder.path().join("echo");
        echo(&socket)?;
        let proxy = DelayProxy::start(&socket, DELAY)?;
        let mut client = std::net::TcpStream::connect(proxy.address())?;
        client.set_nodelay(true)?;
        let mut answer = [0; 2];
        for round_trip in 1..=3 {
            let asked = Instant::now();
            client.write_all(b"ab")?;
            client.read_exact(&mut answer)?;
            assert!(asked.elapsed() >= DELAY * 2 && answer == *b"ab", "{:?}", asked.elapsed());
            assert_eq!(proxy.round_trips(), round_trip);
        }

        const MESSAGES: u8 = 100;
        let asked = Instant::now();
        for number in 0..MESSAGES {
            client.write_all(&[number])?;
            // So that the proxy does not read all of them at once.
            thread::sleep(Duration::from_micros(200));
        }
        let mut answers = [0; MESSAGES as usize];
        client.read_exact(&mut answers)?;
        let took = asked.elapsed();
        assert!((0..MESSAGES).eq(answers), "in order: {answers:?}");
        assert!(took < DELAY * u32::from(MESSAGES) / 2, "one after the other: {took:?}");

        // The end is passed on, too.
        client.shutdown(std::net::Shutdown::Write)?;
        assert_eq!(client.read(&mut answer)?, 0);
        Ok(())
    }
}
