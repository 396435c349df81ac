import type { Target } from '../load/load.ts';
import type { Scenario, ScenarioName } from '../scenarios.ts';

/** The data with which a contender is started. */
export interface Arena {
  /** `http://127.0.0.1:<port>` of the fake upstream. */
  readonly upstreamOrigin: string;
  readonly scenarios: readonly Scenario[];
  /** Prints a line for the operator of the benchmark. */
  readonly say: (line: string) => void;
}

/** A running proxy between the load generator and the upstream. */
export interface Contender {
  readonly name: ContenderName;
  readonly title: string;
  /** The supported scenarios. A missing scenario is not measured. */
  readonly targets: Partial<Readonly<Record<ScenarioName, Target>>>;
  /** The processes whose processor time and memory count. Empty for the direct connection. */
  pids(): readonly number[];
  /** Processes that also work for it, outside the request path. */
  otherPids(): readonly number[];
  stop(): Promise<void>;
}

export type ContenderName = 'direct' | 'nginx' | 'bare' | 'none' | 'ours' | 'full' | 'peer';
export const contenderNames: readonly ContenderName[] = ['direct', 'nginx', 'bare', 'none', 'ours', 'full', 'peer'];

/** The same targets for every contender that forwards requests unchanged. Only the base URL differs. */
export function forwardingTargets(
  arena: Arena,
  baseUrl: string,
  headers: Readonly<Record<string, string>> = { authorization: 'Bearer sk-upstream' },
): Contender['targets'] {
  const entries = arena.scenarios
    .filter((scenario) => scenario.name !== 'cached')
    .map((scenario) => [
      scenario.name,
      { url: baseUrl + scenario.path, headers: { 'content-type': scenario.contentType, ...headers }, body: scenario.body },
    ]);
  return Object.fromEntries(entries);
}
