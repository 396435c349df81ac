import { Migration } from '@mikro-orm/migrations';

/** Adds holders of leases, starts of budget windows, and records of open sessions. */
export class ExactSettlement extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  'alter table limit_leases add column holder uuid',
  'create index limit_leases_by_holder on limit_leases (holder) where holder is not null',
  'alter table limit_budgets add column rule jsonb',
  'alter table request_records add column checkpoint bigint',
];
