//! Budgets: what may be spent at most.

use http::Method;
use serde::Deserialize;
use serde_json::Value;

use super::service;
use crate::calls::{Call, Mutation};
use crate::error::Error;
use crate::generated::rest::{Budget, SetBudget};
use crate::rest::{Query, segment};

const PATH: &str = "/v1/budgets";

#[derive(Deserialize)]
struct BudgetList {
    budgets: Vec<Budget>,
}

service! {
    /// What the tenant wants to spend at most.
    Budgets
}

impl Budgets {
    /// All budgets, in the order of their ids.
    pub fn list(&self) -> Call<Vec<Budget>> {
        let inner = self.inner.clone();
        Call::new(move |options| async move {
            let answer: BudgetList = inner.rest.get(PATH, &Query::default(), &options).await?;
            Ok(answer.budgets)
        })
    }

    /// One budget: what of it is spent, held and free.
    pub fn get(&self, id: impl Into<String>) -> Call<Budget> {
        let (inner, id) = (self.inner.clone(), id.into());
        Call::new(move |options| async move {
            let path = path_of(&id)?;
            inner.rest.get(&path, &Query::default(), &options).await
        })
    }

    /// Make a budget, or change its limit, its kind and its percentages. It is in force with the next token. Of
    /// one that exists, what it is of and its period cannot be changed.
    pub fn set(&self, request: SetBudget) -> Mutation<Budget> {
        let inner = self.inner.clone();
        Mutation::new(move |options| async move {
            let path = path_of(&request.id)?;
            inner
                .rest
                .call(Method::PUT, &path, Some(&request), &options)
                .await
        })
    }

    /// Delete a budget: with the next token, it refuses nothing more.
    pub fn delete(&self, id: impl Into<String>) -> Mutation<()> {
        let (inner, id) = (self.inner.clone(), id.into());
        Mutation::new(move |options| async move {
            let path = path_of(&id)?;
            inner
                .rest
                .call(Method::DELETE, &path, None::<&Value>, &options)
                .await
        })
    }
}

fn path_of(id: &str) -> Result<String, Error> {
    Ok(format!("{PATH}/{}", segment("id", id)?))
}
