import { Migration } from '@mikro-orm/migrations';

/** Adds the start hooks of workspaces. */
export class StartHooks extends Migration {
  override up(): void {
    this.addSql('alter table workspaces add column start_hooks jsonb');
  }
}
