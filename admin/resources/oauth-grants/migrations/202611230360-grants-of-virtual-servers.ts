import { Migration } from '@mikro-orm/migrations';

/** Grants can name virtual servers, which are in a table of their own. */
export class GrantsOfVirtualServers extends Migration {
  override up(): void {
    this.addSql('alter table oauth_grants drop constraint oauth_grants_server_id_fkey');
  }
}
