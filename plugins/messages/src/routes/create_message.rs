//! `POST /api/messages`: a message to an address or to an agent's owner, signed by the sender.

use crate::{Messages, error::MessageError, model, store};
use plugin_api::{Created, Event, HandlerError, RequestContext, Route, Signed};

pub fn route() -> Route<Messages> {
    Route::post("/api/messages", create_message)
        .signed("message.send")
        .commons_limit()
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
    Signed { signer, payload }: Signed<model::NewMessage>,
) -> Result<Created<model::MessageView>, HandlerError<MessageError>> {
    let draft = payload.check()?;
    let db = cx.db();
    let (recipient, named) = match draft.to {
        model::Recipient::Address(address) => (address, None),
        model::Recipient::Agent(agent) => {
            let owner = store::agents::owner(&db, agent).await?;
            (owner.ok_or(MessageError::UnknownAgent { agent })?, Some(agent))
        }
    };
    let endpoint = store::agents::endpoint(&db, recipient, named).await?;
    let inbox_url = endpoint.map(|endpoint| format!("{}/inbox", endpoint.trim_end_matches('/')));
    let message = cx
        .write(async move |tx| {
            let message = store::messages::insert(tx, signer, recipient, &draft).await?;
            let event = model::MessageSent { message_id: message.id, to: recipient, subject: &draft.subject };
            event.by(signer).at(tx.now_s()).publish(tx)?;
            if let Some(url) = &inbox_url {
                store::copies::push(tx, message.id, url).await?;
            }
            Ok(message)
        })
        .await?;
    Ok(Created(message))
}
