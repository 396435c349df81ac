import { LRUCache } from 'lru-cache';
import type { LeaseAccount } from '../../core/contract/protocol/limits/leases.ts';

/** Output tokens reserved for a call without a stated maximum to a model that has not replied to this process and workspace. */
const unknownOutput = 16_384;
const leastOutput = 1_024;
/** Providers may state any number. No model writes more. */
const mostOutput = 131_072;
/** Part by which the expected output of a model shrinks after a shorter reply. */
const shrinkBy = 1 / 16;
/** Maximum number of models, because callers choose the names. */
const modelsMax = 5_000;

/**
 * Calls that state no maximum output. A budget reserves for them the output that recent calls to their model had. If less is left of
 * the budget, only one such call at a time may use the rest: several at once could exceed the budget several times.
 */
export class OpenOutputs {
  readonly #sizes = new LRUCache<string, number>({ max: modelsMax });
  /** Number of calls that spend from an account. */
  readonly #calls = new WeakMap<LeaseAccount, number>();

  /** Returns the output tokens to reserve: about the largest output among recent calls of the workspace to this model. */
  sizeOf(workspaceId: string, model: string | null): number {
    return this.#sizes.get(nameOf(workspaceId, model)) ?? unknownOutput;
  }

  /** Notes the output of a call. */
  note(workspaceId: string, model: string | null, outputTokens: number): void {
    const name = nameOf(workspaceId, model);
    const known = this.#sizes.get(name) ?? 0;
    this.#sizes.set(name, Math.max(leastOutput, Math.min(outputTokens, mostOutput), Math.floor(known * (1 - shrinkBy))));
  }

  /** Counts a call that spends from this account until `leave`. */
  enter(account: LeaseAccount): void {
    this.#calls.set(account, this.callsOf(account) + 1);
  }

  /** Returns the number of calls that spend from this account. */
  callsOf(account: LeaseAccount): number {
    return this.#calls.get(account) ?? 0;
  }

  leave(account: LeaseAccount): void {
    this.#calls.set(account, this.callsOf(account) - 1);
  }
}

/** Workspaces share no sizes, because each chooses its providers: a provider that states a huge output would affect the others. */
function nameOf(workspaceId: string, model: string | null): string {
  return `${workspaceId} ${model ?? ''}`;
}
