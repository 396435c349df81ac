import { Migration } from '@mikro-orm/migrations';

/**
 * The amounts of the ledger that request records do not show by themselves, and the windows of budgets that have ended. Amounts are in
 * tokens, requests or nano-USD.
 */
export class LedgerEntries extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table limit_entries (
    record_id uuid not null,
    key text not null,
    start_ms bigint not null,
    organisation_id uuid not null references organisations (id),
    created_at timestamptz not null,
    amount bigint not null,
    primary key (record_id, key, start_ms)
  )`,
  'create index limit_entries_by_time on limit_entries (organisation_id, created_at)',
  `create table limit_past_windows (
    key text not null,
    start_ms bigint not null,
    organisation_id uuid not null references organisations (id),
    end_ms bigint not null,
    amount bigint not null,
    primary key (key, start_ms)
  )`,
  'create index limit_past_windows_by_end on limit_past_windows (end_ms)',
];
