//! Every field of the contract has a place in the types of the crate. The contract is read from the text of
//! its files, without the generator.

use std::collections::BTreeMap;

use crate::file;

const FILES: [&str; 11] = [
    "account",
    "actor",
    "device_credential",
    "event",
    "moderation",
    "participant",
    "room",
    "watchdog",
    "room_service",
    "participant_service",
    "moderation_service",
];
const SERVICES: [&str; 2] = ["token_service", "watchdog_service"];

/// Messages that users of the crate do not see as such, and why.
const UNSEEN: [&str; 4] = [
    // `CreateWatchdog` and `UpdateWatchdog` have the fields of the watchdog inside of it.
    "CreateWatchdogRequest",
    "UpdateWatchdogRequest",
    // They are `CreatedCredential` and `RotatedCredential`.
    "CreateDeviceCredentialResponse",
    "RotateDeviceCredentialResponse",
];

/// Fields of each message, nested ones by their own name.
fn messages() -> BTreeMap<String, Vec<String>> {
    let mut messages: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in FILES.iter().chain(&SERVICES) {
        let text = file(&format!("proto/boxoffice/control/v1/{name}.proto"));
        let mut blocks: Vec<String> = Vec::new();
        for line in text.lines().map(str::trim) {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["//", ..] => {}
                [kind @ ("message" | "enum" | "oneof" | "service"), name, ..] => {
                    if line.ends_with('{') {
                        blocks.push(format!("{kind} {name}"));
                    } else {
                        messages.entry((*name).to_owned()).or_default();
                    }
                }
                ["}", ..] => drop(blocks.pop()),
                [.., field, "=", _] => {
                    let block = blocks.iter().rfind(|block| !block.starts_with("oneof"));
                    if let Some(message) = block.and_then(|block| block.strip_prefix("message ")) {
                        messages
                            .entry(message.to_owned())
                            .or_default()
                            .push((*field).to_owned());
                    }
                }
                _ => {}
            }
        }
    }
    messages
}

/// The public struct of a message.
fn struct_of(message: &str) -> Option<String> {
    if UNSEEN.contains(&message) {
        return None;
    }
    match message {
        "MintClientTokenResponse" => Some("MintedToken".into()),
        "ApiKey" => Some("ApiKeyInfo".into()),
        _ if message.ends_with("Response") => None,
        _ => Some(
            message
                .strip_suffix("Request")
                .unwrap_or(message)
                .to_owned(),
        ),
    }
}

/// Fields of structs, and variants of the enums that are flattened into them, as JSON names them.
fn own_fields() -> BTreeMap<String, Vec<String>> {
    let source = syn::parse_file(&file("sdk/rust/src/gen/types.rs")).unwrap();
    let mut variants: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for item in &source.items {
        if let syn::Item::Enum(item) = item {
            let names = item
                .variants
                .iter()
                .map(|each| snake(&each.ident.to_string()));
            variants.insert(item.ident.to_string(), names.collect());
        }
    }
    let mut fields = BTreeMap::new();
    for item in &source.items {
        let syn::Item::Struct(item) = item else {
            continue;
        };
        let mut names = Vec::new();
        for field in &item.fields {
            let name = field.ident.as_ref().unwrap().to_string();
            let kind = inner_type(&field.ty);
            match variants.get(&kind) {
                Some(members)
                    if name == "subject" || name == "condition" || kind == "EventKind" =>
                {
                    names.extend(members.clone());
                }
                _ if name == "event_type" => names.push("type".into()),
                _ => names.push(name),
            }
        }
        fields.insert(item.ident.to_string(), names);
    }
    fields
}

/// `T` of `Option<T>`, or the type itself.
fn inner_type(kind: &syn::Type) -> String {
    let syn::Type::Path(path) = kind else {
        return String::new();
    };
    let last = path.path.segments.last().unwrap();
    if let syn::PathArguments::AngleBracketed(arguments) = &last.arguments
        && let Some(syn::GenericArgument::Type(inner)) = arguments.args.first()
    {
        return inner_type(inner);
    }
    last.ident.to_string()
}

fn snake(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

#[test]
fn all_fields_are_there() {
    let own = own_fields();
    let messages = messages();
    assert!(messages.len() > 60, "{}", messages.len());
    let mut count = 0;
    for (message, fields) in messages {
        let Some(name) = struct_of(&message) else {
            continue;
        };
        let own = own
            .get(&name)
            .unwrap_or_else(|| panic!("there is no struct {name}"));
        for field in fields {
            if ["tenant", "idempotency_key", "update_mask"].contains(&field.as_str()) {
                continue;
            }
            count += 1;
            assert!(own.contains(&field), "{name} lacks {field}: {own:?}");
        }
    }
    assert!(count > 200, "{count}");
}

#[test]
fn types_survive_json() {
    let room = r#"{"name":"lobby","uid":"rm_1","state":"live","policy":{"mode":"meeting",
        "e2ee_required":false,"age_verification_required":false,"region":"eu","max_participants":50,
        "locked":true,"host_capabilities":["chat.send"],"audience_capabilities":[],
        "mute_on_entry":false},"create_time":"2026-11-22T10:00:00.500Z","end_reason":"",
        "participant_count":2,"metadata":"zoë"}"#;
    let room: serde_json::Value = serde_json::from_str(room).unwrap();
    let read: boxoffice::Room = serde_json::from_value(room.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), room);

    let watchdog = serde_json::json!({
        "room": "lobby", "empty_for": 600.5, "action": "end_room", "warn_before": 0.1,
    });
    let read: boxoffice::CreateWatchdog = serde_json::from_value(watchdog.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), watchdog);
    let unknown = serde_json::json!({ "room": "lobby", "empty_for": 1, "action": "fly" });
    assert!(serde_json::from_value::<boxoffice::CreateWatchdog>(unknown).is_err());
}
