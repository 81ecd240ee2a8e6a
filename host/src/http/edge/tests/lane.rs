//! What goes past hyper stays in order with what goes through it, however little the client takes.

use crate::http::edge::{
    lane::{Lane, Sent},
    vitals::Vitals,
};
use bytes::Bytes;
use std::{future::poll_fn, sync::Arc};
use tokio::{
    io::AsyncReadExt as _,
    net::{TcpListener, TcpSocket, TcpStream, tcp::OwnedReadHalf},
};

/// Both ends of a connection whose kernels take little.
async fn narrow() -> (Arc<Lane>, OwnedReadHalf, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_send_buffer_size(4096).unwrap();
    let ours = socket.connect(listener.local_addr().unwrap()).await.unwrap();
    let (client, _) = listener.accept().await.unwrap();
    let (read, write) = ours.into_split();
    (Lane::new(write, Arc::new(Vitals::new())), read, client)
}

#[tokio::test]
async fn a_stream_waits_until_hyper_has_flushed() {
    let (lane, _read, mut client) = narrow().await;
    let chunk = Bytes::from_static(b"past");
    assert_eq!(lane.send(&chunk), Sent::Not, "the head of the answer has not left");
    poll_fn(|cx| lane.poll_write(cx, b"head ")).await.unwrap();
    assert_eq!(lane.send(&chunk), Sent::Not, "written is not flushed");
    poll_fn(|cx| lane.poll_flush(cx)).await.unwrap();
    assert_eq!(lane.send(&chunk), Sent::All);
    lane.leave_to_hyper();
    assert_eq!(lane.send(&chunk), Sent::Not, "hyper has something to write");
    let mut heard = [0; 9];
    client.read_exact(&mut heard).await.unwrap();
    assert_eq!(&heard, b"head past");
}

#[tokio::test]
async fn a_chunk_that_was_begun_is_finished_first() {
    let (lane, read, mut client) = narrow().await;
    poll_fn(|cx| lane.poll_flush(cx)).await.unwrap();
    let mut expected = Vec::new();
    let mut last = Sent::All;
    for number in 0_u32.. {
        let chunk = Bytes::from(format!("{number:08} ").repeat(1000));
        last = lane.send(&chunk);
        if last == Sent::Not {
            break;
        }
        expected.extend_from_slice(&chunk);
        assert_eq!(lane.is_owing(), last == Sent::Partly);
    }
    assert_eq!(last, Sent::Not, "a client that takes nothing is owed one chunk, and no more");

    let reading = tokio::spawn(async move {
        let mut heard = Vec::new();
        client.read_to_end(&mut heard).await.unwrap();
        heard
    });
    poll_fn(|cx| lane.poll_write(cx, b"through hyper")).await.unwrap();
    poll_fn(|cx| lane.poll_flush(cx)).await.unwrap();
    assert_eq!(lane.send(&Bytes::from_static(b" and past")), Sent::All);
    drop((lane, read));
    expected.extend_from_slice(b"through hyper and past");
    assert!(reading.await.unwrap() == expected, "the bytes are the same, in the same order");
}
