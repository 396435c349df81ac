import type { OperationCall } from '../../contract/provider/provider.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { noteOnce } from '../note-once.ts';

/**
 * Names of OpenAI's own models, and of those that reason. The limits of open-weight models (`gpt-oss`) depend on their server.
 */
const ofOpenAi = /(^|[/:])(o\d(?![a-z])|gpt-\d|chatgpt-|codex-)/i;
const reasoning = /(^|[/:])(o\d(?![a-z])|gpt-([5-9]|\d\d)(?!.*chat)|codex-)/i;

/** Efforts above `high`, which not every model has, in ascending order. */
const efforts = ['high', 'xhigh', 'max'];

/** Maximum number of stop sequences at OpenAI. */
const stopMax = 4;

/**
 * Returns a translated chat call without the parameters that OpenAI's models reject: `temperature`, `top_p` and `stop` for models
 * that reason, `reasoning_effort` for the others, and stop sequences beyond four. Reports them. With effort `none`, models that reason accept
 * `temperature` and `top_p`. An effort above the highest of the model becomes the highest.
 */
export function withinModelLimits(chat: JsonObject, call: OperationCall): JsonObject {
  if (!ofOpenAi.test(call.model)) return chat;
  if (!reasoning.test(call.model)) return withinPlainLimits(chat, call);
  const { temperature, top_p: topP, stop, ...others } = withKnownEffort(chat, call);
  if (stop !== undefined) noteOnce(call.dropped, 'stop');
  if (chat.reasoning_effort === 'none') {
    return { ...others, ...(temperature === undefined ? {} : { temperature }), ...(topP === undefined ? {} : { top_p: topP }) };
  }
  // Omitting a default changes nothing, so it is not reported.
  if (temperature !== undefined && temperature !== 1) noteOnce(call.dropped, 'temperature');
  if (topP !== undefined && topP !== 1) noteOnce(call.dropped, 'top_p');
  return others;
}

function withKnownEffort(chat: JsonObject, call: OperationCall): JsonObject {
  const highest = highestEffort(call.model);
  if (efforts.indexOf(chat.reasoning_effort as string) <= efforts.indexOf(highest)) return chat;
  noteOnce(call.adapted, 'reasoning_effort');
  return { ...chat, reasoning_effort: highest };
}

/**
 * `max` since GPT-5.6, `xhigh` since GPT-5.2 and in GPT-5.1-Codex-Max, `high` before (https://github.com/enricoros/big-AGI/issues/1159,
 * https://github.com/tetsuo-ai/agenc-core/pull/2394, looked up 2026-11-29).
 */
function highestEffort(model: string): string {
  const [, major, minor] = /gpt-(\d+)(?:\.(\d+))?/i.exec(model) ?? [];
  const version = Number(major ?? 0) * 100 + Number(minor ?? 0);
  if (version >= 506) return 'max';
  return version >= 502 || /codex-max/i.test(model) ? 'xhigh' : 'high';
}

function withinPlainLimits(chat: JsonObject, call: OperationCall): JsonObject {
  const { reasoning_effort: effort, ...others } = chat;
  if (effort !== undefined && effort !== 'none') noteOnce(call.dropped, 'reasoning_effort');
  if (!Array.isArray(others.stop) || others.stop.length <= stopMax) return others;
  noteOnce(call.dropped, 'stop');
  return { ...others, stop: others.stop.slice(0, stopMax) };
}
