-- The image of PostgreSQL runs it once, on an empty volume, as the superuser.
\getenv owner_password OWNER_PASSWORD
\getenv service_password SERVICE_PASSWORD
create role boxoffice login password :'owner_password';
create role boxoffice_app login password :'service_password';
create database boxoffice owner boxoffice;
