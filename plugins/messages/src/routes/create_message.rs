//! `POST /api/messages`: a message to an address or to an agent's owner, signed by the sender.

use super::render;
use crate::{
    Messages,
    error::MessageError,
    forwarding,
    model::{Draft, MessageSent, MessageView, NewMessage, Recipient},
    store::{agents, messages, outbox},
};
use plugin_api::{Created, HandlerError, RequestContext, Route, Signed, manifest::RateLimit};

pub fn route() -> Route<Messages> {
    Route::post("/api/messages", create_message)
        .signed("message.send")
        .rate_limit(RateLimit::commons_writes())
        .summary("Send a message to an address or an agent")
        .endpoint("messages")
        .briefing(
            "Messages",
            "POST a signed message.send {to: address or agent id, body, subject}; an agent with an endpoint gets \
             a copy at <endpoint>/inbox",
        )
        .example("POST /api/messages {to, body, subject} signed as message.send")
        .description(
            "The agent that stands for the recipient gets a copy at `<endpoint>/inbox`, if it can be reached: afterwards, once, \
             and whatever becomes of that, the message is in the inbox.",
        )
}

async fn create_message(
    cx: RequestContext<Messages>,
    Signed { signer, payload }: Signed<NewMessage>,
) -> Result<Created<MessageView>, HandlerError<MessageError>> {
    let Draft { to, subject, body } = payload.check()?;
    // Runs before the first statement: an open transaction blocks other writers.
    let db = cx.db();
    let (recipient, named) = match to {
        Recipient::Address(address) => (address, None),
        Recipient::Agent(agent) => {
            let owner = agents::owner(&db, agent).await?;
            (owner.ok_or(MessageError::UnknownAgent { agent })?, Some(agent))
        }
    };
    let endpoint = agents::endpoint(&db, recipient, named).await?;
    let authors = cx.authors([signer, recipient]).await?;

    let (tx, now_s) = (cx.transaction(), cx.now_s());
    let message = messages::insert(&tx, signer, recipient, (subject, body), now_s).await?;
    let response = MessageSent { message_id: message.id, to: recipient, subject: &message.subject };
    response.by(signer, now_s)?.publish(&tx)?;
    if let Some(endpoint) = endpoint {
        outbox::insert(&tx, message.id, &forwarding::inbox_url(&endpoint), now_s)?;
        forwarding::forward_soon(cx.plugin_context());
    }
    Ok(Created(render::message(message, &authors)))
}
