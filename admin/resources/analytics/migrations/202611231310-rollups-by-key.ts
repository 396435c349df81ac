import { Migration } from '@mikro-orm/migrations';

/** Long charts of one API key read its rows of days, which are few. A row of a day is inserted once, so the index costs little. */
export class RollupsByKey extends Migration {
  override up(): void {
    this.addSql(`create index usage_rollups_days_by_key on usage_rollups (organisation_id, api_key_id, starts_at)
      where grain = 'day_detail'`);
  }
}
