import { Migration } from '@mikro-orm/migrations';

/** A counter per row that goes up with each change, for optimistic concurrency. */
export class Revisions extends Migration {
  override up(): void {
    for (const table of ['organisations', 'workspaces', 'api_keys', 'integrations', 'providers', 'configs']) {
      this.addSql(`alter table ${table} add column revision integer not null default 1`);
    }
  }
}
