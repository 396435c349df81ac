import { Migration } from '@mikro-orm/migrations';
import { fillGrain } from './fill-grain.ts';

/** Fills the grains of models and keys from the details that are stored. */
export class RollupsByModel extends Migration {
  override up(): void {
    for (const statement of fillGrains) this.addSql(statement);
  }
}

const ofModels = ['workspace_id', 'status', 'provider', 'provider_slug', 'model'];
const ofKeys = ['workspace_id', 'status', 'api_key_id', 'user_id'];

/** Statements for tables without rows of these grains. */
export const fillGrains: readonly string[] = [
  ...['hour', 'day'].flatMap((length) => [
    fillGrain({ from: `${length}_detail`, grain: `${length}_model`, keeps: ofModels }),
    fillGrain({ from: `${length}_detail`, grain: `${length}_key`, keeps: ofKeys }),
  ]),
];
