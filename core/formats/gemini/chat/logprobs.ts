import { isObject, type JsonObject } from '../../../contract/values/json/json.ts';

/** Converts `logprobsResult` of a candidate to the `logprobs` of a chat choice. Null without it. */
export function toLogprobs(result: unknown): JsonObject | null {
  if (!isObject(result) || !Array.isArray(result.chosenCandidates)) return null;
  const top = Array.isArray(result.topCandidates) ? result.topCandidates : [];
  const content = result.chosenCandidates.filter(isObject).map((chosen, index) => {
    const others = isObject(top[index]) && Array.isArray(top[index].candidates) ? top[index].candidates : [];
    return { ...tokenOf(chosen), top_logprobs: others.filter(isObject).map(tokenOf) };
  });
  return { content, refusal: null };
}

function tokenOf(candidate: JsonObject): JsonObject {
  const token = String(candidate.token ?? '');
  return { token, logprob: candidate.logProbability ?? null, bytes: [...Buffer.from(token)] };
}
