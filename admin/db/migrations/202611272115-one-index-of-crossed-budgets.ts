import { Migration } from '@mikro-orm/migrations';

/** Budgets and counters of policies are reported by one query, which uses `limit_budgets_to_tell`. */
export class OneIndexOfCrossedBudgets extends Migration {
  override async up(): Promise<void> {
    this.addSql('drop index if exists limit_budgets_to_audit');
  }
}
