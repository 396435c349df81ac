import { Migration } from '@mikro-orm/migrations';

/** Names of models for people; null: the slug is shown. */
export class ModelNames extends Migration {
  override up(): void {
    this.addSql('alter table integration_models add column name text');
  }
}
