//! The audit trail.

use super::service;
use crate::generated::rest::{AuditEntry, ListAudit};
use crate::listing::Listing;
use crate::rest::{Query, list};

service! {
    /// Who changed what.
    Audit
}

impl Audit {
    /// Changes, newest first.
    pub fn list(&self, request: ListAudit) -> Listing<AuditEntry> {
        let query = Query::default()
            .given("action", request.action.as_deref())
            .given("subject", request.subject.as_deref())
            .time("from", request.from)
            .time("to", request.to)
            .number("limit", request.page_size);
        list(&self.inner.rest, "/v1/audit", query, request.page_token)
    }
}
