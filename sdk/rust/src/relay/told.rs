//! What streams with a relay key tell of tenants: whether they are admitted, and which budgets are spent.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;

#[derive(Debug, Default)]
struct Telling {
    admitted: Option<bool>,
    reached: Vec<String>,
}

/// By tenant, for as long as its stream goes on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told(Arc<RwLock<HashMap<String, Telling>>>);

impl Told {
    pub(crate) fn admitted(&self, tenant: &str) -> Option<bool> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.get(tenant)?.admitted
    }

    pub(crate) fn budget_reached(&self, tenant: &str, budgets: &[String]) -> bool {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.get(tenant)
            .is_some_and(|told| budgets.iter().any(|each| told.reached.contains(each)))
    }

    /// Takes the data of an event `admitted`. Returns whether the budgets that are spent may have changed.
    pub(crate) fn read(&self, tenant: &str, data: &str) -> bool {
        let Ok(told) = serde_json::from_str::<Value>(data) else {
            return false;
        };
        let budgets = told.get("reached_budgets").and_then(Value::as_array);
        let reached: Vec<String> = budgets
            .into_iter()
            .flatten()
            .filter_map(|each| each.as_str().map(str::to_owned))
            .collect();
        let is_any = !reached.is_empty();
        let telling = Telling {
            admitted: told.get("admitted").and_then(Value::as_bool),
            reached,
        };
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let before = all.insert(tenant.to_owned(), telling);
        is_any || before.is_some_and(|before| !before.reached.is_empty())
    }

    pub(crate) fn forget(&self, tenant: &str) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        all.remove(tenant);
    }
}
