//! All vectors of docs/vectors get the code that they name.

use serde_json::{Value, json};

use crate::{decide, file};

fn path(name: &str) -> String {
    format!("{}/../../docs/vectors/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[tokio::test]
async fn tokens_and_proofs() {
    for name in ["participant-tokens.json", "thief.json"] {
        if !std::path::Path::new(&path(name)).exists() {
            continue;
        }
        let wanted: Value = serde_json::from_str(&file(&format!("docs/vectors/{name}"))).unwrap();
        let decided = decide::decide_tokens(&path(name)).await.unwrap();
        let all = wanted["vectors"].as_array().unwrap();
        assert!(all.len() > 50, "{name}");
        for vector in all {
            let vector_name = vector["name"].as_str().unwrap();
            assert_eq!(
                decided[vector_name], vector["code"],
                "{name}: {vector_name}"
            );
        }
    }
}

#[tokio::test]
async fn revocations() {
    let wanted: Value = serde_json::from_str(&file("docs/vectors/revocations.json")).unwrap();
    let decided = decide::decide_revocations(&path("revocations.json"))
        .await
        .unwrap();
    let hashes = wanted["hashes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|each| each["hash"].clone());
    assert_eq!(decided["hashes"], hashes.collect::<Value>());
    for (name, value) in decided["claims"].as_object().unwrap() {
        assert_eq!(*value, wanted["claims"][name], "{name}");
    }
    for check in wanted["checks"].as_array().unwrap() {
        let name = check["name"].as_str().unwrap();
        let expected = match &check["code"] {
            Value::Null => json!({ "code": null, "muted": check["muted"] }),
            code => json!({ "code": code, "reason": check.get("reason") }),
        };
        assert_eq!(decided["checks"][name], expected, "{name}");
    }
}

#[test]
fn the_codes_are_those_of_the_documentation() {
    let page = file("docs/tokens.md");
    for code in boxoffice::relay::RefusalCode::ALL {
        assert!(page.contains(&format!("`{code}`")), "{code}");
    }
    let own: Vec<&str> = boxoffice::relay::RefusalCode::ALL
        .iter()
        .map(|code| code.as_str())
        .collect();
    let typescript = file("sdk/typescript/src/relay/refusal.ts");
    let theirs: Vec<&str> = typescript
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_once(": '"))
        .filter(|(code, _)| {
            code.bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte == b'_')
        })
        .map(|(code, _)| code)
        .collect();
    assert_eq!(own, theirs);
}
