import { Migration } from '@mikro-orm/migrations';

/**
 * Adds leases of rate limits, so that the units of a killed process return to their window, and the time at which a holder last
 * needed all its units.
 */
export class RateLeases extends Migration {
  override up(): void {
    this.addSql('alter table limit_leases add column start_ms bigint');
    this.addSql('alter table limit_leases add column firm_ms bigint');
  }
}
