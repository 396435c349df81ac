import { Migration } from '@mikro-orm/migrations';

/** An index to delete the old contents of one organisation. */
export class ContentsByOrganisation extends Migration {
  override up(): void {
    this.addSql('create index record_contents_by_organisation on record_contents (organisation_id, created_at)');
  }
}
