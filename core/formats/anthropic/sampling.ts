import type { OperationCall } from '../../contract/provider/provider.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { noteOnce } from '../note-once.ts';
import { traitsOf } from './models.ts';

/**
 * Returns `temperature`, `top_p` and `top_k` as far as the model accepts them. Values that it would refuse are left out and
 * reported. The range of temperature is 0 to 1. If both temperature and top_p are set, only temperature is sent, because newer
 * models refuse the pair.
 */
export function samplingParams(params: JsonObject, thinking: boolean, call: OperationCall): JsonObject {
  const given = Object.fromEntries(
    ['temperature', 'top_p', 'top_k'].filter((name) => present(params[name])).map((name) => [name, params[name]]),
  );
  const drop = (name: string): void => {
    if (!(name in given)) return;
    // Omitting a default changes nothing, so it is not reported.
    if (given[name] !== 1 || name === 'top_k') noteOnce(call.dropped, name);
    delete given[name];
  };
  if (typeof given.temperature === 'number' && (given.temperature > 1 || given.temperature < 0)) {
    given.temperature = Math.min(1, Math.max(0, given.temperature));
    noteOnce(call.adapted, 'temperature');
  }
  if (!traitsOf(call.model).sampling) for (const name of ['temperature', 'top_p', 'top_k']) drop(name);
  if (thinking) {
    if (given.temperature !== 1) drop('temperature');
    drop('top_k');
    if (typeof given.top_p === 'number' && given.top_p < 0.95) drop('top_p');
  }
  if ('temperature' in given) drop('top_p');
  return given;
}

function present(value: unknown): boolean {
  return value !== undefined && value !== null;
}
