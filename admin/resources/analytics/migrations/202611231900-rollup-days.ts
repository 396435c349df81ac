import { Migration } from '@mikro-orm/migrations';
import { fillGrain } from './fill-grain.ts';

/**
 * Roll-ups of days are written when a day has ended. Until now each record was added to them, so those of ended days are complete. Grains that
 * are new are filled for these days.
 */
export class RollupDays extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
    for (const statement of fillDays) this.addSql(statement);
  }
}

const today = `date_trunc('day', now() at time zone 'UTC') at time zone 'UTC'`;

const statements = [
  `create table rollup_days (
    organisation_id uuid primary key,
    days_until timestamptz not null
  )`,
  `insert into rollup_days select id, ${today} from organisations`,
  `delete from usage_rollups where grain in ('day_model', 'day_key', 'day_detail', 'day_user') and starts_at >= ${today}`,
];

const sumOfDays = {
  startsAt: `date_trunc('day', r.starts_at at time zone 'UTC') at time zone 'UTC'`,
  where: 'r.starts_at < (select days_until from rollup_days d where d.organisation_id = r.organisation_id)',
};
const ofTotals = ['workspace_id', 'status'];
const ofKeyModels = [...ofTotals, 'api_key_id', 'user_id', 'provider', 'provider_slug', 'model'];

/** Statements for tables without rows of these grains. */
export const fillDays: readonly string[] = [
  fillGrain({ from: 'hour', grain: 'day', keeps: ofTotals, ...sumOfDays }),
  fillGrain({ from: 'day_detail', grain: 'day_key_model', keeps: ofKeyModels, ...sumOfDays }),
];
