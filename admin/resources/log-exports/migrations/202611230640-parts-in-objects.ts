import { Migration } from '@mikro-orm/migrations';

/** Parts of exports may be in the object store instead of the row. */
export class PartsInObjects extends Migration {
  override up(): void {
    this.addSql('alter table log_export_parts add column object_key text');
  }
}
