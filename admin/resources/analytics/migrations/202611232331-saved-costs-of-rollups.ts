import { Migration } from '@mikro-orm/migrations';

/** Sums of what cached replies saved. Earlier records do not say it. */
export class SavedCostsOfRollups extends Migration {
  override up(): void {
    this.addSql(`alter table usage_rollups add column simple_saved_nano bigint not null default 0,
      add column semantic_saved_nano bigint not null default 0`);
  }
}
