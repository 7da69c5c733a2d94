//! Renders the types that users of the crate see, and how they become messages.

use std::collections::BTreeMap;

use crate::contract::{
    Contract, Enum, Field, Kind, Message, doc, field, input_name, is_filled_in, member_name,
    oneof_name, pascal, public_name, wire_member, wire_name, wire_oneof,
};

/// Messages in answers. The messages inside of them follow.
const ANSWERS: [&str; 8] = [
    "Room",
    "Participant",
    "Ban",
    "ModerationEvent",
    "Watchdog",
    "DeviceCredential",
    "Event",
    "MintClientTokenResponse",
];

const DERIVES: &str = "Clone, Debug, PartialEq, Serialize, Deserialize";

pub struct Writer<'a> {
    pub contract: &'a Contract<'a>,
    /// Items by name, so that their order does not depend on who needs them.
    pub written: BTreeMap<String, String>,
}

impl Writer<'_> {
    pub fn answers(&mut self) {
        for name in ANSWERS {
            self.answer(name);
        }
    }

    /// The file.
    pub fn text(self) -> String {
        let head = "//! Types of the control plane: what the service answers, and requests.\n\n\
            use std::time::{Duration, SystemTime};\n\n\
            use serde::{Deserialize, Serialize};\n\n\
            use super::wire;\n\
            use crate::money::Micros;\n\
            use crate::plain;\n\
            use crate::secret::Secret;\n\
            use crate::words::number_words;\n\n";
        let items: Vec<String> = self.written.into_values().collect();
        head.to_owned() + &items.join("\n")
    }

    fn answer(&mut self, name: &str) {
        let contract = self.contract;
        let message = contract.message(name);
        let public = public_name(name);
        if self.written.contains_key(&public) {
            return;
        }
        self.written.insert(public.clone(), String::new());
        let members: String = self.members(message, false).concat();
        let text = format!(
            "{}#[derive({DERIVES}, Default)]\n#[serde(default)]\n#[non_exhaustive]\npub struct {public} {{\n{members}}}\n\n{}",
            doc(&message.doc),
            from_wire(message),
        );
        self.written.insert(public, text);
    }

    /// The members of a struct, one text each. Types that they need are written, too.
    pub fn members(&mut self, message: &Message, is_request: bool) -> Vec<String> {
        let mut members = Vec::new();
        let mut last_oneof = None;
        for (desc, text) in message.desc.field.iter().zip(&message.field_docs) {
            let field = field(desc);
            if is_request && is_filled_in(field.name) {
                continue;
            }
            self.types_of(&field, is_request);
            let Some(at) = field.oneof else {
                let kind = type_of(&message.name, &field, is_request);
                let name = member_name(field.name);
                members.push(format!(
                    "{}{}pub {name}: {kind},\n",
                    doc(text),
                    serde(&field, &kind)
                ));
                continue;
            };
            if last_oneof != Some(at) {
                last_oneof = Some(at);
                members.push(self.oneof(message, at));
            }
        }
        members
    }

    /// The member for a `oneof`, whose enum is written, too.
    fn oneof(&mut self, message: &Message, at: usize) -> String {
        let name = message.desc.oneof_decl[at].name();
        let public = oneof_name(&message.name, name);
        if !self.written.contains_key(public) {
            let text = self.oneof_enum(message, at, public);
            self.written.insert(public.to_owned(), text);
        }
        let key = format!("{public}: {}", message.name);
        let conversions = oneof_conversions(message, at, public);
        self.written.insert(key, conversions);
        format!(
            "{}#[serde(flatten)]\npub {name}: Option<{public}>,\n",
            doc(&message.oneof_docs[at])
        )
    }

    fn oneof_enum(&mut self, message: &Message, at: usize, public: &str) -> String {
        let mut variants = String::new();
        for (field, text) in oneof_fields(message, at) {
            let with = match field.kind {
                Kind::Duration => "#[serde(with = \"plain::seconds\")]",
                _ => "",
            };
            let kind = item_type(&field.kind);
            variants += &format!("{}{}({with} {kind}),\n", doc(&text), pascal(field.name));
        }
        format!(
            "{}#[derive({DERIVES})]\n#[serde(rename_all = \"snake_case\")]\n#[non_exhaustive]\npub enum {public} {{\n{variants}}}\n",
            doc(&message.oneof_docs[at]),
        )
    }

    fn types_of(&mut self, field: &Field, is_request: bool) {
        match &field.kind {
            Kind::Enum(name) => self.enumeration(name),
            Kind::Message(name) if !is_request => self.answer(name),
            _ => {}
        }
    }

    pub fn enumeration(&mut self, name: &str) {
        let desc = &self.contract.enums[name];
        let public = public_name(name);
        self.written
            .entry(public.clone())
            .or_insert_with(|| enumeration(desc, &public));
    }
}

fn enumeration(desc: &Enum, public: &str) -> String {
    let (_, own) = desc.name.rsplit_once('.').unwrap_or(("", &desc.name));
    let prefix = crate::contract::snake(own).to_uppercase() + "_";
    let (mut variants, mut words) = (String::new(), String::new());
    for (value, text) in desc.desc.value.iter().zip(&desc.value_docs) {
        if value.number() == 0 {
            continue;
        }
        let word = value.name().trim_start_matches(&prefix).to_lowercase();
        let variant = pascal(&word);
        variants += &format!("{}{variant},\n", doc(text));
        words += &format!("{variant} = {} => \"{word}\",\n", value.number());
    }
    let explanation = if desc.doc.trim().is_empty() {
        " A word of the contract."
    } else {
        &desc.doc
    };
    format!(
        "{}#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\n#[non_exhaustive]\npub enum {public} {{\n{variants}\
        /// A value that this version of the crate does not know, or none.\nUnknown(i32),\n}}\n\nnumber_words!({public} {{\n{words}}});\n",
        doc(explanation),
    )
}

/// The fields of a `oneof` with their comments.
pub fn oneof_fields<'a>(message: &'a Message, at: usize) -> Vec<(Field<'a>, String)> {
    message
        .desc
        .field
        .iter()
        .zip(&message.field_docs)
        .map(|(desc, text)| (field(desc), text.clone()))
        .filter(|(field, _)| field.oneof == Some(at))
        .collect()
}

/// The type of one value.
pub fn item_type(kind: &Kind) -> String {
    match kind {
        Kind::Text => "String".into(),
        Kind::Bool => "bool".into(),
        Kind::I32 => "i32".into(),
        Kind::Micros => "Micros".into(),
        Kind::U64 => "u64".into(),
        Kind::Time => "SystemTime".into(),
        Kind::Duration => "Duration".into(),
        Kind::Enum(name) => public_name(name),
        Kind::Message(name) => public_name(name),
        Kind::Mask => panic!("masks are filled in"),
    }
}

pub fn type_of(message: &str, field: &Field, is_request: bool) -> String {
    let item = match &field.kind {
        Kind::Message(name) if is_request => input_name(name),
        _ if message == "MintClientTokenResponse" && field.name == "token" => "Secret".into(),
        kind => item_type(kind),
    };
    let has_absence = matches!(field.kind, Kind::Time | Kind::Duration | Kind::Message(_));
    match (field.is_list, has_absence || field.is_optional) {
        (true, _) => format!("Vec<{item}>"),
        (_, true) => format!("Option<{item}>"),
        _ => item,
    }
}

/// How a field is written in JSON.
pub fn serde(field: &Field, kind: &str) -> String {
    let mut parts = Vec::new();
    if member_name(field.name) != field.name {
        parts.push(format!("rename = \"{}\"", field.name));
    }
    if kind.starts_with("Option<") {
        parts.push("skip_serializing_if = \"Option::is_none\"".into());
    }
    match (&field.kind, kind.starts_with("Option<")) {
        (Kind::Time, true) => parts.push("with = \"plain::optional_time\"".into()),
        (Kind::Duration, true) => parts.push("with = \"plain::optional_seconds\"".into()),
        _ => {}
    }
    if parts.is_empty() {
        String::new()
    } else {
        format!("#[serde({})]\n", parts.join(", "))
    }
}

/// `From` the message that the service sends.
fn from_wire(message: &Message) -> String {
    let public = public_name(&message.name);
    let mut members = String::new();
    let mut last_oneof = None;
    for desc in &message.desc.field {
        let field = field(desc);
        if let Some(at) = field.oneof {
            if last_oneof != Some(at) {
                let name = message.desc.oneof_decl[at].name();
                members += &format!("{name}: message.{name}.map(Into::into),\n");
            }
            last_oneof = Some(at);
            continue;
        }
        let value = format!("message.{}", wire_member(field.name));
        members += &format!("{}: {},\n", member_name(field.name), read(&field, &value));
    }
    let name = if members.is_empty() {
        "_message"
    } else {
        "message"
    };
    format!(
        "impl From<{wire}> for {public} {{\nfn from({name}: {wire}) -> Self {{\nSelf {{\n{members}}}\n}}\n}}\n",
        wire = wire_name(&message.name),
    )
}

/// The expression for a value that the service sent.
fn read(field: &Field, value: &str) -> String {
    let is_token = field.name == "token";
    match (&field.kind, field.is_list) {
        (Kind::Enum(name), true) => {
            format!(
                "{value}.into_iter().map({}::from_number).collect()",
                public_name(name)
            )
        }
        (Kind::Enum(name), false) => format!("{}::from_number({value})", public_name(name)),
        (Kind::Message(_), true) => format!("{value}.into_iter().map(Into::into).collect()"),
        (Kind::Message(_), false) => format!("{value}.map(Into::into)"),
        (Kind::Time, _) => format!("plain::read_time({value})"),
        (Kind::Duration, _) => format!("plain::read_duration({value})"),
        (Kind::Micros, _) => format!("Micros({value})"),
        (Kind::Text, false) if is_token => format!("Secret::new({value})"),
        _ => value.to_owned(),
    }
}

/// Conversions between the enum of users and that of one message.
fn oneof_conversions(message: &Message, at: usize, public: &str) -> String {
    let wire = wire_oneof(&message.name, message.desc.oneof_decl[at].name());
    let (mut from, mut to) = (String::new(), String::new());
    for (field, _) in oneof_fields(message, at) {
        let variant = pascal(field.name);
        let (read, write) = match field.kind {
            Kind::Duration => ("plain::duration(value)", "plain::write_duration(value)"),
            Kind::Message(_) => ("value.into()", ""),
            _ => ("value", "value"),
        };
        from += &format!("{wire}::{variant}(value) => Self::{variant}({read}),\n");
        to += &format!("{public}::{variant}(value) => Self::{variant}({write}),\n");
    }
    let reading = format!(
        "impl From<{wire}> for {public} {{\nfn from(wire: {wire}) -> Self {{\nmatch wire {{\n{from}}}\n}}\n}}\n\n"
    );
    let writing = format!(
        "impl From<{public}> for {wire} {{\nfn from(given: {public}) -> Self {{\nmatch given {{\n{to}}}\n}}\n}}\n"
    );
    match message.name.as_str() {
        "Event" | "Ban" | "ModerationEvent" => reading,
        // It is in answers and in requests.
        "Watchdog" => reading + &writing,
        _ => writing,
    }
}
