import type { BranchExplanation, ConditionTrace, StrategyExplanation } from '../contract/plugin/config/route-explanation.ts';
import type { JsonObject } from '../contract/values/json/json.ts';

/** Converts the explanation of a strategy to the field names of the API. Absent fields stay absent. */
export function strategyReply(strategy: StrategyExplanation): JsonObject {
  const { path, mode, why, algorithm, sticky, conditions, refusal, targets } = strategy;
  return {
    path,
    mode,
    why,
    algorithm,
    sticky,
    conditions: conditions?.map(conditionReply),
    refusal,
    targets: targets.map(branchReply),
  };
}

function conditionReply({ then, holds, trace }: ConditionTrace): JsonObject {
  return { then, holds, clauses: trace.clauses };
}

function branchReply(branch: BranchExplanation): JsonObject {
  const { path, name, weight, first, order, movesOnAfter, circuit, coolingDown, load, strategy } = branch;
  return {
    path,
    name,
    weight,
    first,
    order,
    moves_on_after: movesOnAfter,
    circuit,
    cooling_down: coolingDown,
    load: load && {
      in_flight: load.inFlight,
      requests_per_minute: Math.round(load.requestsPerMinute),
      latency_ms: load.latencyMs === null ? null : Math.round(load.latencyMs),
    },
    strategy: strategy && strategyReply(strategy),
  };
}
