"""A service whose answers a test writes down: REST over HTTP, and the control plane over gRPC."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc
import pytest

from boxoffice import Boxoffice, _contract
from boxoffice._values import plain, to_message

KEY = "svc_0123456789abcdef_secret"


@dataclass
class Answer:
    """An answer of REST, in JSON unless it is bytes. `parts` are sent with a pause between them."""

    body: object = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    parts: int = 1
    pause: float = 0.0


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: Any


class Service:
    """It answers each request with the next answer, and the last one again and again."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.answers: list[Answer] = []
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.on_call: Callable[[str, dict[str, Any], grpc.ServicerContext], Iterator[dict[str, Any] | bytes]] = (
            lambda *_: iter(())
        )
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        self._grpc = grpc.server(ThreadPoolExecutor(8))
        self._grpc.add_generic_rpc_handlers((_Calls(self),))
        self.grpc_port = self._grpc.add_insecure_port("127.0.0.1:0")
        self._grpc.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def client(self, **options: Any) -> Boxoffice:
        given = {"api_key": KEY, "control_url": f"http://127.0.0.1:{self.grpc_port}", "tenant": "t_1", **options}
        return Boxoffice(url=self.url, **given)

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._grpc.stop(None).wait()

    def _handler(service: Service) -> type[BaseHTTPRequestHandler]:  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                service.requests.append(Request(self.command, self.path, headers, json.loads(body) if body else None))
                answer = service.answers.pop(0) if len(service.answers) > 1 else service.answers[0]
                given = b"" if answer.body is None else answer.body
                text = given if isinstance(given, bytes) else json.dumps(given).encode()
                self.send_response(answer.status)
                for name, value in {**answer.headers, "content-length": str(len(text))}.items():
                    self.send_header(name, value)
                self.end_headers()
                size = max(len(text) // answer.parts, 1)
                for at in range(0, len(text), size):
                    time.sleep(answer.pause)
                    self.wfile.write(text[at : at + size])
                    self.wfile.flush()

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

            def log_message(self, *_: object) -> None:
                pass

        return Handler


class _Calls(grpc.GenericRpcHandler):
    def __init__(self, service: Service) -> None:
        self._service = service

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[Any, Any]:
        name = details.method.rpartition(".")[2].replace("/", ".")
        method = _contract.method(name)

        def stream(request: Any, context: grpc.ServicerContext) -> Iterator[bytes]:
            values = plain(_contract.message_class(method.input_type).FromString(request))
            self._service.calls.append((name, values))
            for each in self._service.on_call(name, values, context):
                yield each if isinstance(each, bytes) else to_message(method.output_type, each).SerializeToString()

        if name.partition(".")[2].startswith("Watch"):
            return grpc.unary_stream_rpc_method_handler(stream)
        return grpc.unary_unary_rpc_method_handler(lambda request, context: next(stream(request, context)))


@pytest.fixture
def service() -> Iterator[Service]:
    service = Service()
    yield service
    service.close()


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries wait for milliseconds."""
    monkeypatch.setattr("boxoffice._limits._FIRST_WAIT", 0.01)
