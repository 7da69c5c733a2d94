use std::error::Error;
use std::time::{Duration, UNIX_EPOCH};

use boxoffice::verify_webhook_events_at;
use http::HeaderMap;

fn main() -> Result<(), Box<dyn Error>> {
    let id = "evt_5f0c3a5d7e1b24688642b1e7d5a3c0f9";
    let timestamp = "1795380003";
    let signature = "v1,rkTiZOvSZ68Bz/DWZX0r1qfdZM3rebHxZBsTI2B/Ryk= v1a,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==";
    let body = r#"{"id":"evt_5f0c3a5d7e1b24688642b1e7d5a3c0f9","seq":42,"type":"balance_low","schema_version":1,"timestamp":"2026-11-22T18:00:00.000Z","data":{"balance":{"micros":4990000,"display":"$4.990000"},"below":{"micros":5000000,"display":"$5.000000"},"created_at":"2026-11-21T05:50:59.605Z"}}"#;
    let mut headers = HeaderMap::new();
    headers.insert("webhook-id", id.parse()?);
    headers.insert("webhook-timestamp", timestamp.parse()?);
    headers.insert("webhook-signature", signature.parse()?);
    let now = UNIX_EPOCH + Duration::from_secs(timestamp.parse()?);
    let secret = std::env::var("WEBHOOK_SECRET")?;
    for event in verify_webhook_events_at(now, [secret], &headers, body.as_bytes())? {
        println!("{}", event.event_type);
    }
    Ok(())
}
