-- Patroni runs it once, on the first primary.
create role boxoffice login password '${OWNER_PASSWORD}';
create role boxoffice_app login password '${SERVICE_PASSWORD}';
create database boxoffice owner boxoffice;

-- The service sets its limits for each connection. A pooler does not hand them on, so the role has them too.
alter role boxoffice_app set statement_timeout = '10s';
alter role boxoffice_app set lock_timeout = '8s';
alter role boxoffice_app set idle_in_transaction_session_timeout = '15s';
