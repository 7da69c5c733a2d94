//! Renders the methods of the services, and what the client fills in.

use std::collections::BTreeSet;

use crate::contract::{Contract, snake};

const HEAD: &str = "//! Methods of the control plane, and the fields of requests that the client fills in.\n\n\
    use super::wire;\n\
    use crate::control::{Keyed, Method, OfTenant, Resumable, WatchAnswer};\n\n";

pub fn render(contract: &Contract) -> String {
    let mut text = HEAD.to_owned();
    let mut traits = BTreeSet::new();
    for service in &contract.services {
        for method in &service.method {
            let short = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
            let (input, output) = (short(method.input_type()), short(method.output_type()));
            text += &format!(
                "pub(crate) const {}: Method<wire::{input}, wire::{output}> =\nMethod::new(\"/boxoffice.control.v1.{}/{}\");\n\n",
                snake(method.name()).to_uppercase(),
                service.name(),
                method.name(),
            );
            traits.extend(traits_of(contract, &input));
            if method.server_streaming() {
                traits.extend(watching(&input, &output));
            }
        }
    }
    text + &Vec::from_iter(traits).join("\n")
}

fn traits_of(contract: &Contract, input: &str) -> Vec<String> {
    let has = |name: &str| {
        contract
            .message(input)
            .desc
            .field
            .iter()
            .any(|field| field.name() == name)
    };
    let mut traits = Vec::new();
    if has("tenant") {
        traits.push(setter("OfTenant", input, "set_tenant", "tenant"));
    }
    if has("idempotency_key") {
        traits.push(setter(
            "Keyed",
            input,
            "set_idempotency_key",
            "idempotency_key",
        ));
    }
    traits
}

fn watching(input: &str, output: &str) -> [String; 2] {
    let parts = format!(
        "impl WatchAnswer for wire::{output} {{\nfn into_parts(self) -> (Option<wire::Event>, String) {{\n(self.event, self.resume_token)\n}}\n}}\n"
    );
    [
        setter("Resumable", input, "set_resume_token", "resume_token"),
        parts,
    ]
}

fn setter(name: &str, input: &str, method: &str, field: &str) -> String {
    format!(
        "impl {name} for wire::{input} {{\nfn {method}(&mut self, {field}: String) {{\nself.{field} = {field};\n}}\n}}\n"
    )
}
