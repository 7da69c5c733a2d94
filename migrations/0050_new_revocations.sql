-- Devices that enter while their credential is revoked are found by when it was.
create index device_credentials_newly_revoked on device_credentials (revoked_at) where revoked_at is not null;
