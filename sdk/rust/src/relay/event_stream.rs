//! Reads server-sent events. Source: HTML, 9.2.6, with line feeds as ends of lines, and without reconnection.

use http_body_util::BodyExt;
use hyper::body::Incoming;

use crate::http::BoxError;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerSentEvent {
    pub(crate) event: String,
    pub(crate) data: String,
}

pub(crate) struct EventStream {
    body: Incoming,
    events: Events,
    bytes_max: usize,
}

impl EventStream {
    /// An event may have `bytes_max` bytes.
    pub(crate) fn new(body: Incoming, bytes_max: usize) -> Self {
        Self {
            body,
            events: Events::default(),
            bytes_max,
        }
    }

    /// `None` at the end; what is incomplete there is left out. Fails if the connection does, or if an event is too long.
    pub(crate) async fn next(&mut self) -> Result<Option<ServerSentEvent>, BoxError> {
        loop {
            if let Some(event) = self.events.next() {
                return Ok(Some(event));
            }
            if self.events.bytes > self.bytes_max {
                return Err("an event is too long".into());
            }
            let Some(frame) = self.body.frame().await else {
                return Ok(None);
            };
            if let Ok(chunk) = frame?.into_data() {
                self.events.push(&chunk);
            }
        }
    }
}

/// Chunks in, events out.
#[derive(Default)]
struct Events {
    rest: Vec<u8>,
    /// No line ends in so many bytes of `rest`.
    looked_at: usize,
    event: String,
    data: Vec<String>,
    /// So much belongs to the event that is not complete.
    bytes: usize,
}

impl Events {
    fn push(&mut self, chunk: &[u8]) {
        self.rest.extend_from_slice(chunk);
        self.bytes += chunk.len();
    }

    fn next(&mut self) -> Option<ServerSentEvent> {
        while let Some(found) = self
            .rest
            .iter()
            .skip(self.looked_at)
            .position(|byte| *byte == b'\n')
        {
            let line: Vec<u8> = self.rest.drain(..=self.looked_at + found).collect();
            self.looked_at = 0;
            let line = String::from_utf8_lossy(&line);
            let complete = self.take_line(line.trim_end_matches(['\r', '\n']));
            if complete.is_some() {
                return complete;
            }
        }
        self.looked_at = self.rest.len();
        None
    }

    fn take_line(&mut self, line: &str) -> Option<ServerSentEvent> {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "event" => value.clone_into(&mut self.event),
            "data" => self.data.push(value.to_owned()),
            _ => {}
        }
        if !line.is_empty() {
            return None;
        }
        self.bytes = self.rest.len();
        let event = std::mem::take(&mut self.event);
        let data = std::mem::take(&mut self.data);
        (!data.is_empty()).then(|| ServerSentEvent {
            event,
            data: data.join("\n"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Events, ServerSentEvent};

    #[test]
    fn events_are_read_however_they_are_cut() {
        let text = "event: a\ndata: 1\ndata:2\n\n: nothing\nevent: b\n\r\ndata: é\r\n\r\nevent: cut\ndata: off";
        let read = |size: usize| {
            let mut events = Events::default();
            let mut found = Vec::new();
            for chunk in text.as_bytes().chunks(size) {
                events.push(chunk);
                found.extend(std::iter::from_fn(|| events.next()));
            }
            assert_eq!(events.bytes, "event: cut\ndata: off".len());
            found
        };
        let event = |event: &str, data: &str| ServerSentEvent {
            event: event.to_owned(),
            data: data.to_owned(),
        };
        for size in [1, 2, 3, 7, 1000] {
            assert_eq!(read(size), [event("a", "1\n2"), event("", "é")]);
        }
    }
}
