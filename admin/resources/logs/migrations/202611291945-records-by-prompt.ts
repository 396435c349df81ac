import { Migration } from '@mikro-orm/migrations';

/** The list of prompts shows when each one was last used. Requests without a prompt are not in the index. */
export class RecordsByPrompt extends Migration {
  override up(): void {
    this.addSql(`create index request_records_by_prompt on request_records (workspace_id, (record->>'promptSlug'), created_at)
      where record->>'promptSlug' is not null`);
  }
}
