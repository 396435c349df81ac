import { Migration } from '@mikro-orm/migrations';

/** Dimensions of prompts. Roll-ups that exist keep their rows, and later requests of the same hour have rows of their own. */
export class RollupsByPrompt extends Migration {
  override up(): void {
    this.addSql('alter table usage_rollups add column prompt_slug text, add column prompt_version integer');
  }
}
