import { Migration } from '@mikro-orm/migrations';

/** Adds the append-only audit chain, stored replies for repeated creates, and reuse of config slugs. */
export class AuditChain extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  // Null in entries of versions before this one.
  `alter table audit_entries
    add column seq bigint,
    add column previous_hash text,
    add column hash text,
    add column country text,
    add column request_headers jsonb`,
  `create unique index audit_entries_by_seq on audit_entries (organisation_id, seq)`,
  // One row per organisation. Adding an entry locks it, so entries have an order without gaps.
  `create table audit_chains (
    organisation_id uuid primary key references organisations,
    seq bigint not null,
    hash text not null
  )`,
  `create function svc_append_only() returns trigger language plpgsql as $$
    begin
      raise exception 'rows of % are only ever added', tg_table_name using errcode = 'insufficient_privilege';
    end $$`,
  `create trigger audit_entries_append_only before update or delete on audit_entries
    for each row execute function svc_append_only()`,
  `create trigger audit_entries_keep_all before truncate on audit_entries
    for each statement execute function svc_append_only()`,
  `create table idempotency_keys (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    digest text not null unique,
    request_hash text not null,
    reply text,
    created_at timestamptz not null,
    expires_at timestamptz not null
  )`,
  `create index idempotency_keys_by_expiry on idempotency_keys (expires_at)`,
  // The slug of an archived config is free again.
  `create unique index configs_slug on configs (workspace_id, slug) where status = 'active'`,
  `alter table configs drop constraint configs_workspace_id_slug_key`,
  // Time at which a config last served a request.
  `create index request_records_by_config on request_records (workspace_id, config_slug, created_at)
    where config_slug is not null`,
];
