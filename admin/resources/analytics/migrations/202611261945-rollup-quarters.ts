import { Migration } from '@mikro-orm/migrations';

/** The time before which quarters of days are summed. Housekeeping sums those of the past, and queries read hours until then. */
export class RollupQuarters extends Migration {
  override up(): void {
    this.addSql(`alter table rollup_days alter column days_until set default '-infinity',
      add column quarters_until timestamptz not null default '-infinity'`);
  }
}
