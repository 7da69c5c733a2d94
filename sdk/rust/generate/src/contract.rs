//! The contract with its comments, and names in Rust.

use std::collections::HashMap;

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
    FileDescriptorSet, ServiceDescriptorProto,
};

const PACKAGE: &str = "boxoffice.control.v1";

/// Services that the SDK has over REST.
const OVER_REST: [&str; 1] = ["BudgetService"];

/// A message, by its name inside the package such as `Participant.Device`.
pub struct Message<'a> {
    pub name: String,
    pub doc: String,
    pub desc: &'a DescriptorProto,
    /// Comments of the fields, in order.
    pub field_docs: Vec<String>,
    /// Comments of the `oneof`s, in order.
    pub oneof_docs: Vec<String>,
}

pub struct Enum<'a> {
    pub name: String,
    pub doc: String,
    pub desc: &'a EnumDescriptorProto,
    pub value_docs: Vec<String>,
}

pub struct Contract<'a> {
    pub messages: HashMap<String, Message<'a>>,
    pub enums: HashMap<String, Enum<'a>>,
    pub services: Vec<&'a ServiceDescriptorProto>,
}

impl<'a> Contract<'a> {
    pub fn new(files: &'a FileDescriptorSet) -> Self {
        let mut contract = Self {
            messages: HashMap::new(),
            enums: HashMap::new(),
            services: Vec::new(),
        };
        for file in &files.file {
            if file.package() == PACKAGE {
                contract.add_file(file);
            }
        }
        contract.services.sort_by_key(|service| service.name());
        contract
    }

    fn add_file(&mut self, file: &'a FileDescriptorProto) {
        let comments: HashMap<Vec<i32>, String> = file
            .source_code_info
            .iter()
            .flat_map(|info| &info.location)
            .map(|location| {
                (
                    location.path.clone(),
                    location.leading_comments().to_owned(),
                )
            })
            .collect();
        let docs = |path: &[i32]| comments.get(path).cloned().unwrap_or_default();
        for (at, message) in (0..).zip(&file.message_type) {
            self.add_message("", message, &[4, at], &docs);
        }
        for (at, desc) in (0..).zip(&file.enum_type) {
            self.add_enum("", desc, &[5, at], &docs);
        }
        self.services.extend(
            file.service
                .iter()
                .filter(|service| !OVER_REST.contains(&service.name())),
        );
    }

    fn add_message(
        &mut self,
        parent: &str,
        desc: &'a DescriptorProto,
        path: &[i32],
        docs: &dyn Fn(&[i32]) -> String,
    ) {
        let name = format!("{parent}{}", desc.name());
        let inside = |kind: i32, at: i32| [path, &[kind, at]].concat();
        let inner = format!("{name}.");
        for (at, nested) in (0..).zip(&desc.nested_type) {
            self.add_message(&inner, nested, &inside(3, at), docs);
        }
        for (at, nested) in (0..).zip(&desc.enum_type) {
            self.add_enum(&inner, nested, &inside(4, at), docs);
        }
        let message = Message {
            doc: docs(path),
            field_docs: (0..)
                .zip(&desc.field)
                .map(|(at, _)| docs(&inside(2, at)))
                .collect(),
            oneof_docs: (0..)
                .zip(&desc.oneof_decl)
                .map(|(at, _)| docs(&inside(8, at)))
                .collect(),
            desc,
            name: name.clone(),
        };
        self.messages.insert(name, message);
    }

    fn add_enum(
        &mut self,
        parent: &str,
        desc: &'a EnumDescriptorProto,
        path: &[i32],
        docs: &dyn Fn(&[i32]) -> String,
    ) {
        let name = format!("{parent}{}", desc.name());
        let value_docs = (0..)
            .zip(&desc.value)
            .map(|(at, _)| docs(&[path, &[2, at]].concat()))
            .collect();
        let found = Enum {
            doc: docs(path),
            value_docs,
            desc,
            name: name.clone(),
        };
        self.enums.insert(name, found);
    }

    pub fn message(&self, name: &str) -> &Message<'a> {
        self.messages
            .get(name)
            .unwrap_or_else(|| panic!("the contract has no {name}"))
    }
}

/// What the value of a field is.
pub enum Kind {
    Text,
    Bool,
    I32,
    Micros,
    U64,
    Time,
    Duration,
    Enum(String),
    Message(String),
    Mask,
}

pub struct Field<'a> {
    pub name: &'a str,
    pub kind: Kind,
    pub is_list: bool,
    /// Absent and zero differ.
    pub is_optional: bool,
    /// The index of the `oneof` that it is a member of.
    pub oneof: Option<usize>,
}

pub fn field(desc: &FieldDescriptorProto) -> Field<'_> {
    let is_optional = desc.proto3_optional();
    Field {
        name: desc.name(),
        kind: kind_of(desc),
        is_list: desc.label() == Label::Repeated,
        is_optional,
        oneof: if is_optional {
            None
        } else {
            desc.oneof_index.and_then(|at| at.try_into().ok())
        },
    }
}

fn kind_of(desc: &FieldDescriptorProto) -> Kind {
    let inside = desc.type_name().strip_prefix(&format!(".{PACKAGE}."));
    match (desc.r#type(), inside) {
        (Type::String, _) => Kind::Text,
        (Type::Bool, _) => Kind::Bool,
        (Type::Int32, _) => Kind::I32,
        (Type::Int64, _) if desc.name().ends_with("_micros") => Kind::Micros,
        (Type::Uint64, _) => Kind::U64,
        (Type::Enum, Some(name)) => Kind::Enum(name.to_owned()),
        (Type::Message, Some(name)) => Kind::Message(name.to_owned()),
        (Type::Message, None) => match desc.type_name() {
            ".google.protobuf.Timestamp" => Kind::Time,
            ".google.protobuf.Duration" => Kind::Duration,
            ".google.protobuf.FieldMask" => Kind::Mask,
            other => panic!("{}: {other} has no type in Rust yet", desc.name()),
        },
        (other, _) => panic!("{}: {other:?} has no type in Rust yet", desc.name()),
    }
}

/// The name in Rust of a message or an enum that users see.
pub fn public_name(name: &str) -> String {
    match name {
        "MintClientTokenResponse" => "MintedToken".into(),
        "Participant.Device" => "Device".into(),
        "RoomPolicy.Mode" => "RoomMode".into(),
        "ModerationEvent.Action" => "ModerationAction".into(),
        // `ApiKey` is the key of the REST interface, which creates keys.
        "ApiKey" => "ApiKeyInfo".into(),
        _ => name
            .strip_suffix("Request")
            .unwrap_or(name)
            .replace('.', ""),
    }
}

/// The name in Rust of a `oneof` that users see. Subjects have the same members everywhere.
pub fn oneof_name(message: &str, oneof: &str) -> &'static str {
    match (message, oneof) {
        ("Event", "kind") => "EventKind",
        ("Watchdog", "condition") => "WatchdogCondition",
        (_, "subject") => "Subject",
        _ => panic!("{message}.{oneof} has no name in Rust yet"),
    }
}

/// The name that prost gives: `participant::Device`.
pub fn wire_name(name: &str) -> String {
    match name.split_once('.') {
        Some((parent, inner)) => format!("wire::{}::{inner}", snake(parent)),
        None => format!("wire::{name}"),
    }
}

/// The path of a `oneof` as prost names it.
pub fn wire_oneof(message: &str, oneof: &str) -> String {
    format!("wire::{}::{}", snake(message), pascal(oneof))
}

pub fn snake(name: &str) -> String {
    let mut text = String::new();
    for (at, letter) in name.char_indices() {
        if letter.is_ascii_uppercase() && at > 0 {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

pub fn pascal(name: &str) -> String {
    name.split('_')
        .map(|word| {
            let (first, rest) = word.split_at(1);
            first.to_ascii_uppercase() + &rest.to_ascii_lowercase()
        })
        .collect()
}

/// The name of the field in structs of users. `type` is a keyword.
pub fn member_name(name: &str) -> &str {
    if name == "type" { "event_type" } else { name }
}

/// The name of the field in structs of prost.
pub fn wire_member(name: &str) -> &str {
    if name == "type" { "r#type" } else { name }
}

/// A comment as lines of rustdoc.
pub fn doc(text: &str) -> String {
    let text = text.trim_end();
    let text = if text.is_empty() {
        " The message of the contract."
    } else {
        text
    };
    text.lines()
        .map(|line| format!("///{}\n", quoted(line.trim_end())))
        .collect()
}

/// With backticks around constants such as `ROOM_FULL`.
fn quoted(line: &str) -> String {
    let is_constant = |word: &str| {
        word.contains('_')
            && word
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    };
    let mut text = String::new();
    // Every other part is in backticks already.
    for (at, part) in line.split('`').enumerate() {
        if at > 0 {
            text.push('`');
        }
        if at % 2 == 1 {
            text += part;
            continue;
        }
        for piece in
            part.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        {
            let word = piece
                .trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
            let rest = piece.strip_prefix(word).unwrap_or_default();
            text += &if is_constant(word) {
                format!("`{word}`{rest}")
            } else {
                piece.to_owned()
            };
        }
    }
    text
}

/// What the client fills in.
pub fn is_filled_in(field: &str) -> bool {
    matches!(field, "tenant" | "idempotency_key" | "update_mask")
}

/// The name of a message inside a request.
pub fn input_name(name: &str) -> String {
    if name == "RoomPolicy" {
        "RoomPolicyInput".into()
    } else {
        public_name(name)
    }
}
