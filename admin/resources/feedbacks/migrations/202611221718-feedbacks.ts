import { Migration } from '@mikro-orm/migrations';

/** The table of feedback. */
export class Feedbacks extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table feedbacks (
    id uuid primary key,
    organisation_id uuid not null references organisations (id),
    workspace_id uuid not null references workspaces (id),
    trace_id text not null,
    value smallint not null,
    weight double precision not null,
    metadata jsonb not null,
    guardrail_id text,
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    revision integer not null default 1
  )`,
  'create index feedbacks_of_trace on feedbacks (organisation_id, trace_id)',
  'create index feedbacks_by_time on feedbacks (created_at)',
];
