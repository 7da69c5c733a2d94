"""A receiver of webhooks for FastAPI. It needs `pip install boxoffice fastapi uvicorn`, and starts by `uvicorn fastapi_receiver:app`."""

import os

from boxoffice import WebhookRefused, verify_webhook_events
from fastapi import FastAPI, HTTPException, Request, Response

BODY_BYTES_MAX = 1 << 20

app = FastAPI()
# Keep the ids of events that you handled in your database: an event may come twice.
seen: set[str] = set()


@app.post("/webhooks")
async def receive(request: Request) -> Response:
    # The raw body, of which FastAPI parses nothing: the signature is over these bytes.
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_BYTES_MAX:
            raise HTTPException(413)
    try:
        events = verify_webhook_events(os.environ["WEBHOOK_SECRET"], request.headers, bytes(body))
    except WebhookRefused as error:
        raise HTTPException(401, str(error)) from None
    for event in events:
        if event.id not in seen:
            seen.add(event.id)
            print("event", event.type, flush=True)
    return Response(status_code=204)
