import { Migration } from '@mikro-orm/migrations';

/** The table of webhooks. */
export class Webhooks extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table webhooks (
    id uuid primary key,
    organisation_id uuid not null references organisations (id),
    workspace_id uuid not null references workspaces (id),
    slug text not null,
    name text not null,
    url text not null,
    events jsonb not null,
    is_active boolean not null,
    secret text not null,
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    revision integer not null default 1,
    unique (workspace_id, slug)
  )`,
  'create index webhooks_by_time on webhooks (organisation_id, workspace_id, created_at desc)',
  `create table webhook_deliveries (
    id uuid primary key,
    organisation_id uuid not null references organisations (id),
    workspace_id uuid not null references workspaces (id),
    webhook_id uuid not null references webhooks (id) on delete cascade,
    event text not null,
    data jsonb not null,
    status text not null,
    attempts integer not null,
    response_status integer,
    last_error text,
    created_at timestamptz not null,
    last_attempt_at timestamptz
  )`,
  'create index webhook_deliveries_by_webhook on webhook_deliveries (webhook_id, created_at desc)',
  'create index webhook_deliveries_by_time on webhook_deliveries (created_at)',
];
