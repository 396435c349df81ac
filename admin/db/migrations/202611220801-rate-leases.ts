import { Migration } from '@mikro-orm/migrations';

/** Leases of rate limits, so that the units of a killed process return to their window; and when a holder last needed all it had. */
export class RateLeases extends Migration {
  override up(): void {
    this.addSql('alter table limit_leases add column start_ms bigint');
    this.addSql('alter table limit_leases add column firm_ms bigint');
  }
}
