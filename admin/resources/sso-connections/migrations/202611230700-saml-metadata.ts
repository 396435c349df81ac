import { Migration } from '@mikro-orm/migrations';

/** Result of the last look at the metadata of SAML providers. */
export class SamlMetadata extends Migration {
  override up(): void {
    this.addSql('alter table sso_connections add column metadata_checked_at timestamptz, add column metadata_error text');
  }
}
