import { Migration } from '@mikro-orm/migrations';

/**
 * Adds the nano-USD beyond whole micro-USD (0 to 999) to costs of records and usage of budgets. The columns of whole micro-USD
 * stay unchanged, so no row is rewritten and a control plane of the previous version can continue to write them.
 */
export class NanoUsd extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  'alter table request_records add column cost_nano_rest smallint not null default 0',
  'alter table limit_budgets add column used_nano_rest smallint not null default 0',
];
