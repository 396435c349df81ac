import { Migration } from '@mikro-orm/migrations';

/** Adds display names of models; null: the slug is shown. */
export class ModelNames extends Migration {
  override up(): void {
    this.addSql('alter table integration_models add column name text');
  }
}
