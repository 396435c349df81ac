import { Migration } from '@mikro-orm/migrations';

/** Outputs of test runs are sealed. Outputs that were stored before cannot be sealed here and are removed. */
export class PromptTestContents extends Migration {
  override up(): void {
    this.addSql('alter table prompt_test_results add column content bytea');
    for (const column of ['output', 'error', 'check_results'])
      this.addSql(`alter table prompt_test_results drop column ${column}`);
  }
}
