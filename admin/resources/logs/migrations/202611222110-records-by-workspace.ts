import { Migration } from '@mikro-orm/migrations';

/** An index for lists of logs: the records of a workspace, newest first. */
export class RecordsByWorkspace extends Migration {
  override up(): void {
    this.addSql('create index request_records_by_workspace on request_records (workspace_id, created_at desc, id desc)');
  }
}
