//! The public interface is the one in `api.txt`. After a change of it:
//! `WRITE_API=1 cargo test --features relay api`.
//!
//! The list is every item that is `pub` in `src`, without bodies, attributes and what is private, by name: it
//! does not tell which file an item is in. `lib.rs` says which of them users can name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::{Attribute, Fields, ImplItem, Item, TraitItem, Visibility};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// `#[non_exhaustive]`, `#[must_use]`, `#[derive]` and features belong to the interface; comments do not.
fn keep(attributes: &mut Vec<Attribute>) {
    attributes.retain(|attribute| {
        ["non_exhaustive", "derive", "cfg"]
            .iter()
            .any(|name| attribute.path().is_ident(name))
    });
}

fn keep_fields(fields: &mut Fields) {
    // A private field in parentheses is as hidden as one in braces.
    if matches!(fields, Fields::Unnamed(fields) if !fields.unnamed.iter().any(|field| is_public(&field.vis)))
    {
        *fields = Fields::Named(syn::parse_quote!({}));
    }
    if let Fields::Named(named) = fields {
        let all = std::mem::take(&mut named.named);
        named.named = all
            .into_iter()
            .filter(|field| is_public(&field.vis))
            .collect();
    }
    for field in fields.iter_mut() {
        keep(&mut field.attrs);
    }
}

/// Names of public types, of which implementations are listed.
fn names(files: &[(String, syn::File)]) -> BTreeSet<String> {
    let items = files.iter().flat_map(|(_, file)| &file.items);
    let names = items.filter_map(|item| match item {
        Item::Struct(item) if is_public(&item.vis) => Some(item.ident.to_string()),
        Item::Enum(item) if is_public(&item.vis) => Some(item.ident.to_string()),
        _ => None,
    });
    names.collect()
}

fn is_of(kind: &syn::Type, names: &BTreeSet<String>) -> bool {
    let syn::Type::Path(path) = kind else {
        return false;
    };
    path.path.segments.len() == 1 && names.contains(&path.path.segments[0].ident.to_string())
}

/// The public part of an item.
fn public(mut item: Item, names: &BTreeSet<String>) -> Option<Item> {
    let empty: syn::Block = syn::parse_quote!({});
    match &mut item {
        Item::Struct(item) if is_public(&item.vis) => {
            keep(&mut item.attrs);
            keep_fields(&mut item.fields);
        }
        Item::Enum(item) if is_public(&item.vis) => {
            keep(&mut item.attrs);
            for variant in &mut item.variants {
                keep(&mut variant.attrs);
                for field in &mut variant.fields {
                    keep(&mut field.attrs);
                }
            }
        }
        Item::Fn(item) if is_public(&item.vis) => {
            keep(&mut item.attrs);
            *item.block = empty;
        }
        Item::Const(item) if is_public(&item.vis) => keep(&mut item.attrs),
        Item::Type(item) if is_public(&item.vis) => keep(&mut item.attrs),
        Item::Use(item) if is_public(&item.vis) => keep(&mut item.attrs),
        Item::Mod(item) if is_public(&item.vis) => {
            keep(&mut item.attrs);
            if let Some((_, items)) = &mut item.content {
                *items = std::mem::take(items)
                    .into_iter()
                    .filter_map(|item| public(item, names))
                    .collect();
            }
        }
        Item::Trait(item) if is_public(&item.vis) => {
            keep(&mut item.attrs);
            for member in &mut item.items {
                if let TraitItem::Fn(method) = member {
                    keep(&mut method.attrs);
                }
            }
        }
        Item::Impl(implementation) => {
            keep(&mut implementation.attrs);
            let is_trait = implementation.trait_.is_some();
            let is_seen = is_of(&implementation.self_ty, names);
            implementation.items.retain_mut(|member| match member {
                ImplItem::Fn(method) => {
                    keep(&mut method.attrs);
                    method.block = empty.clone();
                    !is_trait && is_public(&method.vis)
                }
                ImplItem::Const(constant) => {
                    keep(&mut constant.attrs);
                    is_public(&constant.vis)
                }
                ImplItem::Type(_) => is_trait,
                _ => false,
            });
            let mentions_wire = implementation
                .trait_
                .as_ref()
                .is_some_and(|(_, path, _)| quoted(path).contains("wire ::"));
            if !is_seen || mentions_wire || (!is_trait && implementation.items.is_empty()) {
                return None;
            }
        }
        Item::Macro(item) if MACROS.iter().any(|name| item.mac.path.is_ident(name)) => {}
        _ => return None,
    }
    Some(item)
}

/// Macros that make public items.
const MACROS: [&str; 3] = ["text_words", "service", "refusals"];

/// The items of a file, without comments: those in macros would be listed.
fn parse(path: &Path) -> syn::File {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.trim().starts_with("///"));
    syn::parse_file(&lines.collect::<Vec<_>>().join("\n")).unwrap()
}

/// What an item is about, by which the list is sorted.
fn subject(item: &Item) -> String {
    match item {
        Item::Struct(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Const(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::Mod(item) => item.ident.to_string(),
        Item::Impl(item) => quoted(&*item.self_ty),
        Item::Macro(item) => {
            let tokens = item.mac.tokens.to_string();
            let name = tokens
                .split_once("enum ")
                .map_or(&*tokens, |(_, rest)| rest);
            name.split([' ', '{', '<'])
                .next()
                .unwrap_or_default()
                .to_owned()
        }
        _ => String::new(),
    }
}

fn rank(item: &Item) -> u8 {
    match item {
        Item::Impl(item) if item.trait_.is_some() => 2,
        Item::Impl(_) => 1,
        _ => 0,
    }
}

fn quoted(part: &impl quote::ToTokens) -> String {
    part.to_token_stream().to_string()
}

fn render() -> String {
    let mut text = String::from("// The public interface. Written by tests/api.rs; do not edit.\n");
    let src = root().join("src");
    let hidden = ["gen/wire.rs", "gen/rpc.rs", "gen/methods.rs"];
    let read = |path: &PathBuf| {
        let name = path.strip_prefix(&src).unwrap().display().to_string();
        (name, parse(path))
    };
    let files: Vec<_> = sources(&src).iter().map(read).collect();
    let names = names(&files);
    let mut groups: BTreeMap<&str, Vec<(String, Item)>> = BTreeMap::new();
    for (name, file) in files {
        if hidden.contains(&name.as_str()) {
            continue;
        }
        let is_relay = name.starts_with("relay/");
        let group = groups.entry(if is_relay { "src/relay" } else { "src" });
        let items = file.items.into_iter();
        let listed = items.filter_map(|item| public(item, &names));
        group
            .or_default()
            .extend(listed.map(|item| (subject(&item), item)));
    }
    for (group, mut items) in groups {
        // A type, what it does, and which traits it has. Those of one kind keep their order.
        items.sort_by_key(|(subject, item)| (subject.clone(), rank(item)));
        let file = syn::File {
            shebang: None,
            attrs: vec![],
            items: items.into_iter().map(|(_, item)| item).collect(),
        };
        text += &format!("\n// {group}\n{}", prettyplease::unparse(&file));
    }
    text
}

#[test]
fn the_public_interface_is_as_listed() {
    let path = root().join("api.txt");
    let own = render();
    if std::env::var_os("WRITE_API").is_some() {
        fs::write(&path, &own).unwrap();
    }
    let listed = fs::read_to_string(&path).unwrap_or_default();
    let difference = own
        .lines()
        .zip(listed.lines())
        .find(|(own, listed)| own != listed);
    assert!(
        own == listed,
        "api.txt differs, first here (source, list): {difference:?}"
    );
}
