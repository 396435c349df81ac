import type { QueryTrace } from './routing-query.ts';
import type { StrategyConfig } from './strategy-config.ts';

/**
 * The targets a request could reach and the reason for each. No random choice is made; the explanation states probabilities
 * instead.
 */
export interface RouteExplanation {
  /** Null for a config without targets: there is only one target. */
  readonly strategy: StrategyExplanation | null;
  /** By the index of the target: probability that it is called first, 0 to 1. */
  readonly first: readonly number[];
  /** By the index of the target: true if this request could reach it, now or after a failure. */
  readonly reachable: readonly boolean[];
  /** Settings of the config without effect, and unreachable targets; one `path: text` each. */
  readonly warnings: readonly string[];
}

/** One strategy of the tree and its result for the request. */
export interface StrategyExplanation {
  readonly path: string;
  readonly mode: StrategyConfig['mode'];
  /** The reason in one sentence. */
  readonly why: string;
  readonly algorithm?: string;
  /** loadbalance: true when the caller's identity decides, so that its requests stay together. */
  readonly sticky?: boolean;
  /** conditional: every condition up to and including the first that holds. */
  readonly conditions?: readonly ConditionTrace[];
  /** conditional: the error message if no condition holds and there is no default. */
  readonly refusal?: string;
  readonly targets: readonly BranchExplanation[];
}

export interface BranchExplanation {
  readonly path: string;
  readonly name?: string;
  /** loadbalance: its weight in the config. */
  readonly weight?: number;
  /** Probability that its strategy calls it first, 0 to 1. */
  readonly first: number;
  /** Position among its siblings in the order of calls: 1 = first; null = never for this request, or not decided by an order. */
  readonly order: number | null;
  /** fallback: the statuses after which its strategy continues with the next one; absent: every status except 2xx. */
  readonly movesOnAfter?: readonly number[];
  /** Circuit of the whole branch; absent if there is none. */
  readonly circuit?: 'open' | 'closed';
  /** True while it is last in order after failures in a row; absent if failures are not counted. */
  readonly coolingDown?: boolean;
  /** The load figures that the algorithm uses, as counted by this process. */
  readonly load?: LoadExplanation;
  readonly strategy?: StrategyExplanation;
}

export interface LoadExplanation {
  readonly inFlight: number;
  readonly requestsPerMinute: number;
  /** Milliseconds to the first byte, null while nothing recent is known. */
  readonly latencyMs: number | null;
}

export interface ConditionTrace {
  readonly then: string;
  readonly holds: boolean;
  readonly trace: QueryTrace;
}
