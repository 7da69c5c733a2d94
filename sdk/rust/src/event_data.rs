//! What an event is about.

use crate::generated::event_data::EventData;
use crate::generated::rest::WebhookEvent;

impl WebhookEvent {
    /// The [`data`](WebhookEvent::data) in the form that its type has.
    ///
    /// # Errors
    ///
    /// A member has another type of value than the schema of the event says.
    pub fn parse_data(&self) -> serde_json::Result<EventData> {
        EventData::read(&self.event_type, &self.data)
    }
}
