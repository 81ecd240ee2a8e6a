//! A small HTTP/1.1 client: one thread and one kept-alive connection per lane, one request at a time on each.

use crate::Failure;
use std::{
    io::{BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    thread,
    time::{Duration, Instant},
};

const SILENCE_MAX: Duration = Duration::from_secs(10);

pub struct Load {
    pub address: SocketAddr,
    pub path: &'static str,
    pub connections: usize,
}

pub struct Answers {
    /// Sorted.
    pub latencies_us: Vec<u64>,
    pub took: Duration,
}

impl Load {
    /// Asks on every connection until the time is up. An answer other than 200 ends the measurement.
    pub fn run(&self, duration: Duration) -> Result<Answers, Failure> {
        let started = Instant::now();
        let until = started + duration;
        let lanes: Vec<Result<Vec<u64>, Failure>> = thread::scope(|scope| {
            let threads: Vec<_> = (0..self.connections).map(|_| scope.spawn(|| self.lane(until))).collect();
            let panicked = |_| Err("a thread of the load generator panicked".to_owned());
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(panicked)).collect()
        });
        let took = started.elapsed();
        let mut latencies_us: Vec<u64> = lanes.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
        latencies_us.sort_unstable();
        Ok(Answers { latencies_us, took })
    }

    fn lane(&self, until: Instant) -> Result<Vec<u64>, Failure> {
        let explain = |error: std::io::Error| format!("GET {}: {error}", self.path);
        let mut writer = TcpStream::connect(self.address).map_err(explain)?;
        writer.set_nodelay(true).map_err(explain)?;
        writer.set_read_timeout(Some(SILENCE_MAX)).map_err(explain)?;
        let mut reader = BufReader::new(writer.try_clone().map_err(explain)?);
        let request = format!("GET {} HTTP/1.1\r\nhost: {}\r\n\r\n", self.path, self.address);
        let mut latencies_us = Vec::new();
        let mut body = Vec::new();
        while Instant::now() < until {
            let asked = Instant::now();
            writer.write_all(request.as_bytes()).map_err(explain)?;
            let head = Head::read(&mut reader).map_err(explain)?;
            body.resize(head.content_length, 0);
            reader.read_exact(&mut body).map_err(explain)?;
            if head.status != 200 {
                return Err(format!("GET {}: {} {}", self.path, head.status, String::from_utf8_lossy(&body)));
            }
            latencies_us.push(u64::try_from(asked.elapsed().as_micros()).unwrap_or(u64::MAX));
        }
        Ok(latencies_us)
    }
}

struct Head {
    status: u16,
    content_length: usize,
}

impl Head {
    fn read(reader: &mut impl std::io::BufRead) -> std::io::Result<Self> {
        let malformed = |what: &str| std::io::Error::new(std::io::ErrorKind::InvalidData, what.to_owned());
        let mut line = String::new();
        reader.by_ref().read_line(&mut line)?;
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| malformed("the answer has no status line"))?;
        let mut content_length = None;
        loop {
            line.clear();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                content_length = value.trim().parse().ok();
            }
        }
        // Answers of a known length are all this client understands.
        let content_length = content_length.ok_or_else(|| malformed("the answer has no content-length"))?;
        Ok(Self { status, content_length })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_to_their_end() {
        let mut text = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nx: y\r\n\r\nabc".as_bytes();
        let head = Head::read(&mut text).map(|head| (head.status, head.content_length));
        assert_eq!(head.ok(), Some((200, 3)));
        assert_eq!(text, b"abc");
    }

    #[test]
    fn what_it_does_not_understand_is_an_error() {
        for text in ["", "nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"] {
            assert!(Head::read(&mut text.as_bytes()).is_err(), "{text:?}");
        }
    }
}
