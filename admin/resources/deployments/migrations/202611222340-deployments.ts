import { Migration } from '@mikro-orm/migrations';

/** The tables of deployments and their gateways. */
export class Deployments extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table deployments (
    id uuid primary key,
    organisation_id uuid not null references organisations (id),
    slug text not null,
    name text not null,
    type text not null,
    is_archived boolean not null,
    is_default boolean not null,
    tags jsonb not null,
    created_by uuid,
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    revision integer not null default 1,
    unique (organisation_id, slug)
  )`,
  `create table deployment_instances (
    id uuid primary key,
    organisation_id uuid not null references organisations (id),
    deployment_id uuid not null references deployments (id) on delete cascade,
    host text not null,
    slot integer not null,
    version text not null,
    source_type text not null,
    tags jsonb not null,
    started_at timestamptz not null,
    seen_at timestamptz not null
  )`,
  'create index deployment_instances_by_deployment on deployment_instances (deployment_id)',
];
