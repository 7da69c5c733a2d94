//! What all services of a client share: the two interfaces, and the tenant of the key.

use std::sync::Arc;

use http::Method;
use tokio::sync::OnceCell;

use crate::calls::{Call, CallOptions, KeyForm, Limits, Mutation, attempt_in_time};
use crate::control::{self, Control, Keyed, OfTenant, is_transient};
use crate::error::{Code, Error};
use crate::error_kinds::Kind;
use crate::generated::rest::BillingState;
use crate::listing::{Listing, Page};
use crate::rest::Rest;

const KEYS: KeyForm = KeyForm {
    first: b' ',
    length_max: 128,
    accepted: "must be 1 to 128 printable ASCII characters",
};

pub(crate) struct Inner {
    pub(crate) control: Control,
    pub(crate) rest: Arc<Rest>,
    pub(crate) limits: Limits,
    pub(crate) tenant: OnceCell<String>,
}

impl Inner {
    /// A call that may be repeated.
    pub(crate) async fn query<Request, Answer>(
        &self,
        method: control::Method<Request, Answer>,
        request: Request,
        options: &CallOptions,
    ) -> Result<Answer, Error>
    where
        Request: OfTenant,
        Answer: prost::Message + Default + 'static,
    {
        let attempt = || async {
            let mut request = request.clone();
            request.set_tenant(self.find_tenant().await?);
            self.control.unary(method, request).await
        };
        attempt_in_time(&self.limits, options, is_transient, attempt).await
    }

    /// Looked up once for all callers, and again after a failure.
    pub(crate) async fn find_tenant(&self) -> Result<String, Error> {
        match self.tenant.get_or_try_init(|| self.look_up_tenant()).await {
            Ok(tenant) => Ok(tenant.clone()),
            // REST refuses relay keys like unknown ones. The control plane distinguishes them, and checks
            // the key before the tenant.
            Err(error) if error.kind() == Kind::Unauthenticated => Ok(String::new()),
            Err(error) => Err(error),
        }
    }

    async fn look_up_tenant(&self) -> Result<String, Error> {
        let options = CallOptions::default();
        let path = "/v1/billing";
        let state: BillingState = self
            .rest
            .call(Method::GET, path, None::<&()>, &options)
            .await?;
        Ok(state.tenant.id)
    }
}

/// A call of the control plane that changes nothing.
pub(crate) fn query<Request, Answer, T>(
    inner: &Arc<Inner>,
    method: control::Method<Request, Answer>,
    request: Result<Request, Error>,
    read: impl FnOnce(Answer) -> Result<T, Error> + Send + 'static,
) -> Call<T>
where
    Request: OfTenant,
    Answer: prost::Message + Default + 'static,
    T: 'static,
{
    let inner = inner.clone();
    Call::new(move |options| async move { read(inner.query(method, request?, &options).await?) })
}

/// A call of the control plane that changes something: all attempts send the same idempotency key.
pub(crate) fn mutate<Request, Answer, T>(
    inner: &Arc<Inner>,
    method: control::Method<Request, Answer>,
    request: Result<Request, Error>,
    read: impl FnOnce(Answer) -> Result<T, Error> + Send + 'static,
) -> Mutation<T>
where
    Request: Keyed,
    Answer: prost::Message + Default + 'static,
    T: 'static,
{
    let inner = inner.clone();
    Mutation::new(move |options: CallOptions| async move {
        let mut request = request?;
        request.set_idempotency_key(options.key(&KEYS)?);
        read(inner.query(method, request, &options).await?)
    })
}

/// All items of a method that lists, page by page.
pub(crate) fn list<Request, Answer, T>(
    inner: &Arc<Inner>,
    method: control::Method<Request, Answer>,
    request: Request,
    first: String,
    set_page_token: fn(&mut Request, String),
    read: fn(Answer) -> Page<T>,
) -> Listing<T>
where
    Request: OfTenant,
    Answer: prost::Message + Default + 'static,
    T: Send + 'static,
{
    let inner = inner.clone();
    Listing::new(first, move |token, options| {
        let (inner, mut request) = (inner.clone(), request.clone());
        set_page_token(&mut request, token);
        Box::pin(async move { inner.query(method, request, &options).await.map(read) })
    })
}

/// What an answer always has.
pub(crate) fn required<M, T: From<M>>(value: Option<M>, name: &str) -> Result<T, Error> {
    let error = || Error::bad_answer(Code::Grpc("OK"), format!("the answer has no {name}"));
    value.map(T::from).ok_or_else(error)
}
