import type { OperationCall } from '../../contract/provider/provider.ts';
import type { JsonObject } from '../../contract/values/json.ts';
import { noteOnce } from '../note-once.ts';

/** Names of OpenAI's own models, and of those that reason. Open-weight models (`gpt-oss`) take what their server takes. */
const ofOpenAi = /(^|[/:])(o\d(?![a-z])|gpt-\d|chatgpt-|codex-)/i;
const reasoning = /(^|[/:])(o\d(?![a-z])|gpt-([5-9]|\d\d)(?!.*chat)|codex-)/i;

/** The most stop sequences OpenAI takes. */
const stopMax = 4;

/**
 * A chat call that was made from another format, without what OpenAI's models refuse: `temperature`, `top_p` and `stop` of models that
 * reason, and stop sequences beyond four. What is left out is reported. With effort `none`, these models take `temperature` and `top_p`.
 */
export function withinModelLimits(chat: JsonObject, call: OperationCall): JsonObject {
  if (!ofOpenAi.test(call.model)) return chat;
  if (!reasoning.test(call.model)) {
    if (!Array.isArray(chat.stop) || chat.stop.length <= stopMax) return chat;
    noteOnce(call.dropped, 'stop');
    return { ...chat, stop: chat.stop.slice(0, stopMax) };
  }
  const { temperature, top_p: topP, stop, ...others } = chat;
  if (stop !== undefined) noteOnce(call.dropped, 'stop');
  if (chat.reasoning_effort === 'none') {
    return { ...others, ...(temperature === undefined ? {} : { temperature }), ...(topP === undefined ? {} : { top_p: topP }) };
  }
  // Omitting a default changes nothing, so it is not reported.
  if (temperature !== undefined && temperature !== 1) noteOnce(call.dropped, 'temperature');
  if (topP !== undefined && topP !== 1) noteOnce(call.dropped, 'top_p');
  return others;
}
