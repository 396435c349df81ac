import type { RequestContext } from '../contract/plugin/context.ts';
import type { PassedUsage } from '../contract/provider/passed-usage.ts';
import { isObject, type JsonObject, parseObject } from '../contract/values/json/json.ts';
import { hasTooManyValues } from '../contract/values/json/line-limits.ts';
import type { Usage } from '../contract/values/models/usage.ts';

/**
 * Reads the usage of one event of a session: by the provider's own reader if it has one, else (and for Gemini) in any known
 * format. If the address names no model, the model of the first response is the session's. Notes a response of another model.
 */
export function sessionReader(
  ctx: RequestContext,
  own: ((event: JsonObject) => Usage | null) | null,
  format: PassedUsage,
): (event: JsonObject) => Usage | null {
  let stated: string | null = null;
  return (event) => {
    const response = isObject(event.response) ? event.response : event;
    if (typeof response.model === 'string') {
      if (ctx.model === null) ctx.nameModel(response.model);
      // Compared with that of other responses: requests may have an alias, such as a name without a date.
      stated ??= response.model;
      if (response.model !== stated) ctx.otherModel = response.model;
    }
    if (own && !isObject(event.usageMetadata)) return own(event);
    const counts = [event.usageMetadata, format.countsOfResponse(response), event.usage].find(isObject);
    return counts ? format.read(counts, response.service_tier) : null;
  };
}

/** Longer messages of a provider are not parsed for a model: settings of a session are shorter, and audio is not of interest. */
const statementBytesMax = 256 * 1024;

/**
 * Returns a reader of the model of a session whose address names none, without which its price would be unknown. Gemini's live API has it in
 * the first message of the client (`setup.model`), which is parsed at any length: otherwise a long one would have no price. OpenAI's sessions state it in events about the session, for transcriptions as the
 * model of the transcription.
 */
export function modelReader(ctx: RequestContext): (message: Uint8Array, isFromClient: boolean) => void {
  let isFirstOfClient = true;
  return (message, isFromClient) => {
    if (isFromClient && !isFirstOfClient) return;
    if (isFromClient) isFirstOfClient = false;
    const text = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
    if (!isFromClient && (text.length > statementBytesMax || !text.includes('"session"'))) return;
    const json = text.toString('utf8');
    // Sessions end with such a text. Binary messages may be sound that only begins as JSON does.
    const event = hasTooManyValues(json) ? null : parseObject(json);
    const model = event === null ? undefined : isFromClient ? memberOf(event, ['setup', 'model']) : modelOfSession(event);
    if (typeof model === 'string' && model !== '') ctx.nameModel(model.replace(/^(?:.*\/)?models\//, ''));
  };
}

function modelOfSession({ session }: JsonObject): unknown {
  if (!isObject(session)) return undefined;
  const transcription = ['transcription', 'model'];
  return (
    session.model ??
    memberOf(session, ['audio', 'input', ...transcription]) ??
    memberOf(session, ['input_audio_transcription', 'model'])
  );
}

function memberOf(object: JsonObject, path: readonly string[]): unknown {
  let value: unknown = object;
  for (const name of path) value = isObject(value) ? value[name] : undefined;
  return value;
}
