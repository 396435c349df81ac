import { Migration } from '@mikro-orm/migrations';

/** The times from which and before which weeks are summed. Housekeeping sums those of the past, and queries read days until then. */
export class RollupWeeks extends Migration {
  override up(): void {
    this.addSql(`alter table rollup_days add column weeks_from timestamptz not null default '-infinity',
      add column weeks_until timestamptz not null default '-infinity'`);
  }
}
