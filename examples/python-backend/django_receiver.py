"""A receiver of webhooks for Django: a view, and the least settings that serve it.

It needs `pip install boxoffice django gunicorn`, and starts by `gunicorn django_receiver`.
"""

import os
import threading

from boxoffice import WebhookRefused, verify_webhook_events
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

# Keep the ids of events that you handled in your database: an event may come twice.
seen: set[str] = set()
seen_lock = threading.Lock()


@csrf_exempt
@require_POST
def receive(request: HttpRequest) -> HttpResponse:
    # The raw body: the signature is over these bytes. Django refuses one beyond DATA_UPLOAD_MAX_MEMORY_SIZE.
    try:
        events = verify_webhook_events(os.environ["WEBHOOK_SECRET"], request.headers, request.body)
    except WebhookRefused as error:
        return HttpResponse(str(error), status=401)
    for event in events:
        with seen_lock:
            is_new = event.id not in seen
            seen.add(event.id)
        if is_new:
            print("event", event.type, flush=True)
    return HttpResponse(status=204)


urlpatterns = [path("webhooks", receive)]
settings.configure(ROOT_URLCONF=__name__)
application = get_wsgi_application()
