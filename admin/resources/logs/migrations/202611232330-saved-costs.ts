import { Migration } from '@mikro-orm/migrations';

/** Stores the cost that a cached reply saved. */
export class SavedCosts extends Migration {
  override up(): void {
    this.addSql('alter table request_records add column saved_nano bigint');
  }
}
