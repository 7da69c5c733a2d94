-- The name of the key that a process seals secrets with. Null: its version does not say.
alter table processes add column secrets_key text;
