//! Direct writes and the task's writes stay in order, however slowly the client reads.

use crate::connection::{ConnectionState, DirectWriter};
use bytes::Bytes;
use gateway_activity::{Sink as _, WriteOutcome};
use std::{future::poll_fn, sync::Arc};
use tokio::{
    io::AsyncReadExt as _,
    net::{TcpListener, TcpSocket, TcpStream, tcp::OwnedReadHalf},
};

/// Both ends of a connection with small socket buffers.
async fn connect_with_small_buffers() -> (Arc<DirectWriter>, OwnedReadHalf, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_send_buffer_size(4096).unwrap();
    let ours = socket.connect(listener.local_addr().unwrap()).await.unwrap();
    let (client, _) = listener.accept().await.unwrap();
    let (read, write) = ours.into_split();
    (DirectWriter::new(write, Arc::new(ConnectionState::new())), read, client)
}

#[tokio::test]
async fn a_stream_waits_until_the_task_has_flushed() {
    let (direct_writer, _read, mut client) = connect_with_small_buffers().await;
    let chunk = Bytes::from_static(b"past");
    assert_eq!(direct_writer.send(&chunk), WriteOutcome::Busy, "the head of the response has not left");
    poll_fn(|cx| direct_writer.poll_write(cx, b"head ")).await.unwrap();
    assert_eq!(direct_writer.send(&chunk), WriteOutcome::Busy, "written is not flushed");
    poll_fn(|cx| direct_writer.poll_flush(cx)).await.unwrap();
    assert_eq!(direct_writer.send(&chunk), WriteOutcome::Complete);
    direct_writer.leave_to_task();
    assert_eq!(direct_writer.send(&chunk), WriteOutcome::Busy, "the task has something to write");
    let mut received = [0; 9];
    client.read_exact(&mut received).await.unwrap();
    assert_eq!(&received, b"head past");
}

#[tokio::test]
async fn a_partly_written_chunk_is_completed_first() {
    let (direct_writer, read, mut client) = connect_with_small_buffers().await;
    poll_fn(|cx| direct_writer.poll_flush(cx)).await.unwrap();
    let mut expected = Vec::new();
    let mut last = WriteOutcome::Complete;
    for number in 0_u32.. {
        let chunk = Bytes::from(format!("{number:08} ").repeat(1000));
        last = direct_writer.send(&chunk);
        if last == WriteOutcome::Busy {
            break;
        }
        expected.extend_from_slice(&chunk);
        assert_eq!(direct_writer.has_unsent(), last == WriteOutcome::Partial);
    }
    assert_eq!(last, WriteOutcome::Busy, "a client that takes nothing is owed one chunk, and no more");

    let reading = tokio::spawn(async move {
        let mut received = Vec::new();
        client.read_to_end(&mut received).await.unwrap();
        received
    });
    poll_fn(|cx| direct_writer.poll_write(cx, b"through the task")).await.unwrap();
    poll_fn(|cx| direct_writer.poll_flush(cx)).await.unwrap();
    assert_eq!(direct_writer.send(&Bytes::from_static(b" and past")), WriteOutcome::Complete);
    drop((direct_writer, read));
    expected.extend_from_slice(b"through the task and past");
    assert!(reading.await.unwrap() == expected, "the bytes are the same, in the same order");
}
