import { Migration } from '@mikro-orm/migrations';

/** End of the validity that the metadata of a SAML provider states. */
export class SamlMetadataValidity extends Migration {
  override up(): void {
    this.addSql('alter table sso_connections add column metadata_valid_until timestamptz');
  }
}
