import { Migration } from '@mikro-orm/migrations';

/** Adds the ledger of limits: grants of each window, usage of each budget, and holders of its leases. */
export class Limits extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table limit_windows (
    key text not null,
    start_ms bigint not null,
    organisation_id uuid not null,
    end_ms bigint not null,
    handed_out bigint not null default 0 check (handed_out >= 0),
    primary key (key, start_ms))`,
  'create index limit_windows_by_end on limit_windows (end_ms)',
  `create table limit_budgets (
    key text primary key,
    organisation_id uuid not null,
    scope text not null,
    entity_id text not null,
    unit text not null check (unit in ('cost', 'tokens')),
    start_ms bigint not null,
    end_ms bigint,
    capacity bigint not null,
    alert_threshold bigint,
    used bigint not null default 0 check (used >= 0),
    threshold_crossed_at timestamptz,
    exhausted_at timestamptz,
    threshold_told_at timestamptz,
    exhausted_told_at timestamptz)`,
  `create index limit_budgets_to_tell on limit_budgets (key)
    where (threshold_crossed_at is not null and threshold_told_at is null)
      or (exhausted_at is not null and exhausted_told_at is null)`,
  'create index limit_budgets_by_end on limit_budgets (end_ms) where end_ms is not null',
  `create table limit_leases (
    lease uuid primary key,
    key text not null,
    organisation_id uuid not null,
    seq bigint not null,
    units bigint not null check (units >= 0),
    settled bigint not null default 0,
    expires_ms bigint not null)`,
  'create index limit_leases_by_key on limit_leases (key)',
  'create index limit_leases_by_end on limit_leases (expires_ms)',
];
