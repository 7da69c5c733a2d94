-- On a server that Patroni shall take over, run once before: what Patroni creates on a new one, with the passwords of its files.
set password_encryption = 'scram-sha-256';
alter role postgres password '${SUPERUSER_PASSWORD}';
create role replicator login replication password '${REPLICATION_PASSWORD}';

-- The same as before, as the files allow it: md5 is refused.
alter role boxoffice password '${OWNER_PASSWORD}';
alter role boxoffice_app password '${SERVICE_PASSWORD}';

-- As in create-database.sql.
alter role boxoffice_app set statement_timeout = '10s';
alter role boxoffice_app set lock_timeout = '8s';
alter role boxoffice_app set idle_in_transaction_session_timeout = '15s';
