import { Migration } from '@mikro-orm/migrations';

/** Test sets of prompts, their runs and the results of each row. */
export class PromptTests extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table prompt_test_sets (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid not null references workspaces,
    slug text not null,
    name text not null,
    rows jsonb not null,
    checks jsonb not null,
    guardrails jsonb not null,
    owner_id uuid not null,
    updated_by uuid not null,
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    revision integer not null default 1)`,
  'create unique index prompt_test_sets_slug on prompt_test_sets (organisation_id, slug)',
  'create index prompt_test_sets_by_workspace on prompt_test_sets (workspace_id)',
  `create table prompt_test_runs (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid not null references workspaces,
    test_set_id uuid not null references prompt_test_sets on delete cascade,
    prompt_id uuid not null references prompts,
    prompt_slug text not null,
    prompt_version integer not null,
    prompt_version_id uuid not null,
    status text not null check (status in ('in_progress', 'success', 'cancelled', 'failed')),
    error text,
    key_id uuid not null,
    guardrails jsonb not null,
    rows_total integer not null,
    owner_id uuid not null,
    created_at timestamptz not null,
    finished_at timestamptz)`,
  'create index prompt_test_runs_by_set on prompt_test_runs (test_set_id, created_at)',
  'create index prompt_test_runs_by_workspace on prompt_test_runs (workspace_id)',
  'create index prompt_test_runs_by_prompt on prompt_test_runs (prompt_id)',
  `create table prompt_test_results (
    run_id uuid not null references prompt_test_runs on delete cascade,
    row_number integer not null,
    organisation_id uuid not null references organisations,
    workspace_id uuid not null references workspaces,
    name text,
    variables jsonb not null,
    checks jsonb not null,
    attempts integer not null,
    next_at timestamptz,
    status integer,
    output text,
    error text,
    latency_ms double precision,
    input_tokens integer not null,
    output_tokens integer not null,
    cost_nano bigint,
    verdict boolean,
    check_results jsonb not null,
    finished_at timestamptz,
    primary key (run_id, row_number))`,
];
