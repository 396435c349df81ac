import { Migration } from '@mikro-orm/migrations';

/**
 * Outputs of test runs are sealed. Outputs that were stored before cannot be sealed here and are removed. Their columns stay for older versions
 * that still run.
 */
export class PromptTestContents extends Migration {
  override up(): void {
    this.addSql('alter table prompt_test_results add column content bytea');
    this.addSql(`alter table prompt_test_results alter column check_results set default '[]'`);
    this.addSql(`update prompt_test_results set output = null, error = null, check_results = '[]'`);
  }
}
