import { Migration } from '@mikro-orm/migrations';

/** Adds the earlier versions of saved prices with the times from which they apply. Null: the saved price applies at all times. */
export class SavedPriceHistory extends Migration {
  override up(): void {
    this.addSql('alter table integration_models add column pricing_history jsonb');
    this.addSql('alter table integrations add column pricing_history jsonb');
  }
}
