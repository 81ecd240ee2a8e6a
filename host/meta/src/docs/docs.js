// Shows /api/openapi.json with Swagger UI. Calls go to where the page came from, whatever URL the document names, so that
// the page also works behind a tunnel or on a test machine; the content security policy allows nothing else.
"use strict";

const place = document.getElementById("api");

function note(text) {
  const paragraph = document.createElement("p");
  paragraph.className = "note";
  paragraph.textContent = text;
  place.replaceChildren(paragraph);
}

async function show() {
  const answer = await fetch("/api/openapi.json");
  if (!answer.ok) throw new Error(`/api/openapi.json answered ${answer.status}`);
  const spec = await answer.json();
  spec.servers = [{ url: location.origin }];
  document.title = spec.info.title;
  document.getElementById("name").textContent = spec.info.title;
  // Only what is served here: a link to a plugin that is off would lead nowhere.
  for (const link of document.querySelectorAll("nav a")) {
    link.hidden = !(new URL(link.href).pathname in spec.paths);
  }
  SwaggerUIBundle({
    spec,
    domNode: place,
    deepLinking: true,
    displayRequestDuration: true,
    filter: true,
    tryItOutEnabled: true,
    requestSnippetsEnabled: true,
    defaultModelsExpandDepth: 0,
    validatorUrl: null,
  });
}

show().catch((error) => note(`The interface could not be shown: ${error.message}`));
