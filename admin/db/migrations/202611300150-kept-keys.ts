import { Migration } from '@mikro-orm/migrations';

/** Adds the keys of stored digests, which stay the same when ENCRYPTION_KEY is replaced. */
export class KeptKeys extends Migration {
  override up(): void {
    this.addSql('create table kept_keys (name text primary key, sealed text not null)');
  }
}
