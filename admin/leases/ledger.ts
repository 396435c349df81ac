import { DeadlockException } from '@mikro-orm/core';
import type { BudgetAsk, Grant, LeaseAsk, RateAsk } from '../../core/contract/leases.ts';
import type { Database } from '../db/open-database.ts';
import { invalid } from '../http/errors.ts';
import { grantBudgets } from './budget-ledger.ts';
import { grantRates } from './rate-ledger.ts';

/**
 * Answers the questions of one gateway process: each in one transaction with the others of its kind. Throws AB01 when a key is
 * asked about twice.
 */
export async function grantLeases(database: Database, asks: readonly LeaseAsk[], nowMs: number): Promise<Grant[]> {
  if (new Set(asks.map((ask) => ask.key)).size !== asks.length) throw invalid('asks: a key is asked about twice');
  const rates = asks.filter((ask): ask is RateAsk => ask.kind === 'rate');
  const budgets = asks.filter((ask): ask is BudgetAsk => ask.kind === 'budget');
  return [
    ...(await inTransaction(database, (tx) => grantRates(tx, rates), rates.length)),
    ...(await inTransaction(database, (tx) => grantBudgets(tx, budgets, nowMs), budgets.length)),
  ];
}

type Work = (tx: ReturnType<Database['em']>) => Promise<Grant[]>;

async function inTransaction(database: Database, work: Work, count: number): Promise<Grant[]> {
  if (count === 0) return [];
  try {
    return await database.em().transactional(work);
  } catch (error) {
    // Locks are taken in the order of keys; what remains is a second try.
    if (!(error instanceof DeadlockException)) throw error;
    return database.em().transactional(work);
  }
}
