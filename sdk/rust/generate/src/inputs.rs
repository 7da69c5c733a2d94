//! Renders requests: what must be given, and a setter for everything else.

use crate::contract::{
    Field, Kind, Message, doc, field, input_name, is_filled_in, member_name, oneof_name,
    public_name,
};
use crate::types::{Writer, item_type, type_of};

/// Requests, and the fields that must be given.
pub const REQUESTS: [(&str, &[&str]); 28] = [
    ("CreateRoomRequest", &["room"]),
    ("GetRoomRequest", &[]),
    ("ListRoomsRequest", &[]),
    ("UpdateRoomPolicyRequest", &["room"]),
    ("EndRoomRequest", &["room"]),
    ("WatchEventsRequest", &[]),
    ("ListEventsRequest", &[]),
    ("GetParticipantRequest", &["username"]),
    ("ListParticipantsRequest", &[]),
    ("WatchParticipantsRequest", &["room"]),
    ("KickParticipantRequest", &["room", "username"]),
    ("BanSubjectRequest", &["subject"]),
    ("UnbanSubjectRequest", &["subject"]),
    ("ListBansRequest", &[]),
    ("ForceMuteRequest", &["room", "username", "tracks"]),
    ("ReleaseMuteRequest", &["room", "username", "tracks"]),
    ("RevokePublishRequest", &["room", "username", "tracks"]),
    ("RestorePublishRequest", &["room", "username", "tracks"]),
    ("CloseRoomRequest", &["room"]),
    ("ListModerationEventsRequest", &[]),
    (
        "MintClientTokenRequest",
        &["room", "username", "device_thumbprint"],
    ),
    ("CreateDeviceCredentialRequest", &["name", "publish"]),
    ("ListDeviceCredentialsRequest", &[]),
    ("RotateDeviceCredentialRequest", &["id"]),
    ("RevokeDeviceCredentialRequest", &["id"]),
    ("GetWatchdogRequest", &["id"]),
    ("ListWatchdogsRequest", &[]),
    ("DeleteWatchdogRequest", &["id"]),
];

impl Writer<'_> {
    pub fn inputs(&mut self) {
        let policy = self.policy();
        self.written.insert("RoomPolicyInput".into(), policy);
        let contract = self.contract;
        let actor = contract.message("Actor");
        let actor = self.request(actor, &["username", "device_thumbprint"]);
        self.written.insert("Actor".into(), actor);
        for (name, required) in REQUESTS {
            let text = self.request(contract.message(name), required);
            self.written.insert(public_name(name), text);
        }
    }

    fn request(&mut self, message: &Message, required: &[&str]) -> String {
        let public = public_name(&message.name);
        let members = self.members(message, true).concat();
        let derives = "Clone, Debug, PartialEq, Default, Serialize, Deserialize";
        let methods =
            new(message, required) + &setters(message, required) + &self.delegates(message);
        format!(
            "{}#[derive({derives})]\n#[serde(default)]\n#[non_exhaustive]\n#[must_use]\npub struct {public} {{\n{members}}}\n\n\
            impl {public} {{\n{methods}}}\n\n{}",
            doc(&message.doc),
            to_wire(message),
        )
    }

    /// Rules of a room, each of which may be absent.
    fn policy(&mut self) -> String {
        let message = self.contract.message("RoomPolicy");
        let (mut members, mut setters, mut wire, mut paths) =
            (String::new(), String::new(), String::new(), String::new());
        for (desc, text) in message.desc.field.iter().zip(&message.field_docs) {
            let field = field(desc);
            let name = field.name;
            let kind = type_of(&message.name, &field, true);
            members += &format!(
                "{}#[serde(skip_serializing_if = \"Option::is_none\")]\npub {name}: Option<{kind}>,\n",
                doc(text)
            );
            let (parameter, value) = parameter(&field);
            setters += &format!(
                "{}pub fn {name}(mut self, {name}: {parameter}) -> Self {{\nself.{name} = Some({value});\nself\n}}\n\n",
                doc(text)
            );
            let absent = match field.kind {
                Kind::Enum(_) => format!("given.{name}.map_or(0, {kind}::number)"),
                _ => format!("given.{name}.unwrap_or_default()"),
            };
            wire += &format!("{name}: {absent},\n");
            paths += &format!("(\"{name}\", self.{name}.is_some()),\n");
        }
        format!(
            "/// Rules of a room to set or to change; absent ones are not touched.\n\
            #[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]\n#[serde(default)]\n#[non_exhaustive]\n#[must_use]\n\
            pub struct RoomPolicyInput {{\n{members}}}\n\n\
            impl RoomPolicyInput {{\n/// No rules.\npub fn new() -> Self {{\nSelf::default()\n}}\n\n{setters}\
            /// Names of the given rules.\npub(crate) fn paths(&self) -> Vec<String> {{\nplain::given([\n{paths}])\n}}\n}}\n\n\
            impl From<RoomPolicyInput> for wire::RoomPolicy {{\nfn from(given: RoomPolicyInput) -> Self {{\nSelf {{\n{wire}}}\n}}\n}}\n"
        )
    }

    /// Setters for the rules of a room, on the request that contains them.
    fn delegates(&self, message: &Message) -> String {
        let has_policy = message
            .desc
            .field
            .iter()
            .any(|field| field.name() == "policy");
        if !has_policy {
            return String::new();
        }
        let policy = self.contract.message("RoomPolicy");
        let mut methods = String::new();
        for (desc, text) in policy.desc.field.iter().zip(&policy.field_docs) {
            let field = field(desc);
            let (parameter, value) = parameter(&field);
            methods += &format!(
                "{}pub fn {name}(mut self, {name}: {parameter}) -> Self {{\n\
                self.policy.get_or_insert_default().{name} = Some({value});\nself\n}}\n\n",
                doc(text),
                name = field.name,
            );
        }
        methods
    }
}

/// The fields of a request that users give, where a `oneof` is one field.
fn given<'a>(message: &'a Message) -> Vec<(&'a str, String, String, String)> {
    let mut fields = Vec::new();
    let mut last_oneof = None;
    for (desc, text) in message.desc.field.iter().zip(&message.field_docs) {
        let field = field(desc);
        if is_filled_in(field.name) {
            continue;
        }
        if let Some(at) = field.oneof {
            if last_oneof != Some(at) {
                let name = message.desc.oneof_decl[at].name();
                let kind = oneof_name(&message.name, name).to_owned();
                fields.push((
                    name,
                    kind,
                    format!("Some({name})"),
                    message.oneof_docs[at].clone(),
                ));
            }
            last_oneof = Some(at);
            continue;
        }
        let (kind, value) = parameter(&field);
        let is_option = type_of(&message.name, &field, true).starts_with("Option<");
        let value = if is_option {
            format!("Some({value})")
        } else {
            value
        };
        fields.push((field.name, kind, value, text.clone()));
    }
    fields
}

/// The type of a parameter for a field, and the expression of its value.
fn parameter(field: &Field) -> (String, String) {
    let name = member_name(field.name);
    let item = match &field.kind {
        Kind::Message(name) => input_name(name),
        kind => item_type(kind),
    };
    match (&field.kind, field.is_list) {
        (Kind::Text, true) => (
            "impl IntoIterator<Item = impl Into<String>>".into(),
            format!("{name}.into_iter().map(Into::into).collect()"),
        ),
        (_, true) => (
            format!("impl IntoIterator<Item = {item}>"),
            format!("{name}.into_iter().collect()"),
        ),
        (Kind::Text, false) => ("impl Into<String>".into(), format!("{name}.into()")),
        _ => (item, name.to_owned()),
    }
}

fn new(message: &Message, required: &[&str]) -> String {
    let given = given(message);
    let chosen: Vec<_> = given
        .iter()
        .filter(|(name, ..)| required.contains(name))
        .collect();
    let parameters: Vec<String> = chosen
        .iter()
        .map(|(name, kind, ..)| format!("{name}: {kind}"))
        .collect();
    let values: String = chosen
        .iter()
        .map(|(name, _, value, _)| format!("{name}: {value},\n"))
        .collect();
    let rest = if chosen.len() < given.len() {
        "..Self::default()\n"
    } else {
        ""
    };
    let body = if chosen.is_empty() {
        "Self::default()".to_owned()
    } else {
        format!("Self {{\n{values}{rest}}}")
    };
    let explanation = if chosen.is_empty() {
        "/// Nothing is required.\n"
    } else {
        "/// What is required.\n"
    };
    format!(
        "{explanation}pub fn new({}) -> Self {{\n{body}\n}}\n\n",
        parameters.join(", ")
    )
}

fn setters(message: &Message, required: &[&str]) -> String {
    let mut methods = String::new();
    for (name, kind, value, text) in given(message) {
        if required.contains(&name) {
            continue;
        }
        methods += &format!(
            "{}pub fn {name}(mut self, {name}: {kind}) -> Self {{\nself.{name} = {value};\nself\n}}\n\n",
            doc(&text)
        );
    }
    methods
}

/// `From` the request that users give. The client fills in the rest.
fn to_wire(message: &Message) -> String {
    let mut members = String::new();
    let mut is_partial = false;
    let mut last_oneof = None;
    for desc in &message.desc.field {
        let field = field(desc);
        if is_filled_in(field.name) {
            is_partial = true;
            continue;
        }
        if let Some(at) = field.oneof {
            if last_oneof != Some(at) {
                let name = message.desc.oneof_decl[at].name();
                members += &format!("{name}: given.{name}.map(Into::into),\n");
            }
            last_oneof = Some(at);
            continue;
        }
        let value = format!("given.{}", field.name);
        members += &format!("{}: {},\n", field.name, write(&field, &value));
    }
    let rest = if is_partial {
        "..Self::default()\n"
    } else {
        ""
    };
    format!(
        "impl From<{public}> for wire::{wire} {{\nfn from(given: {public}) -> Self {{\nSelf {{\n{members}{rest}}}\n}}\n}}\n",
        public = public_name(&message.name),
        wire = message.name,
    )
}

/// The expression for a value as it is sent.
fn write(field: &Field, value: &str) -> String {
    match (&field.kind, field.is_list) {
        (Kind::Enum(name), true) => {
            format!(
                "{value}.into_iter().map({}::number).collect()",
                public_name(name)
            )
        }
        (Kind::Enum(_), false) => format!("{value}.number()"),
        (Kind::Message(_), _) => format!("{value}.map(Into::into)"),
        (Kind::Time, _) => format!("{value}.map(plain::write_time)"),
        (Kind::Duration, _) => format!("{value}.map(plain::write_duration)"),
        _ => value.to_owned(),
    }
}
