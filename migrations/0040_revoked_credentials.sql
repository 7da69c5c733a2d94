-- The revocation feed tells which device credentials were revoked a short while ago.
create index device_credentials_revoked on device_credentials (tenant_id, revoked_at) where revoked_at is not null;
