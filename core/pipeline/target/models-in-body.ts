import { batchFileFields } from '../../contract/plugin/requests/batch-line.ts';
import { startsSession } from '../../contract/plugin/requests/passed-traffic.ts';
import type { ModelSources } from '../../contract/provider/model-sources.ts';
import { type FormPart, partText } from '../../contract/values/bodies/form.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { InboundRequest } from '../../contract/values/http/http.ts';
import { isJsonType } from '../../contract/values/http/media-types.ts';
import { isObject, isText, type JsonObject, objectsIn, parseObject } from '../../contract/values/json/json.ts';
import { isModelField } from '../../contract/values/models/nested-models.ts';
import {
  alternativeModels,
  furtherModels,
  hiddenModel,
  isSpelling,
  modelFields,
  notOneModel,
  requireReadableModel,
} from '../../contract/values/models/readable-models.ts';
import { textOf } from '../../contract/values/text/utf8.ts';
import { type InTurns, paramsOfForm, parseForm } from '../request/form-data.ts';
import { isEncoded } from '../request/passed-model.ts';

/** Models that a pass-through body names. */
export interface BodyModels {
  /** Models of the call. */
  readonly called: readonly string[];
  /** Models of its tools and of other fields. The body must state the model of the call beside these. */
  readonly further: readonly string[];
  /** The body, if it is a JSON object; null for other bodies. */
  readonly json: JsonObject | null;
}

/** A pass-through request with its whole body. */
export interface PassedBody {
  readonly bytes: Uint8Array;
  readonly request: InboundRequest;
  /** Path below `/v1`. */
  readonly path: string;
  readonly hasModelInPath: boolean;
  /** Reads a large form in turns of the event loop. */
  readonly inTurns: InTurns;
}

export const noModels: BodyModels = { called: [], further: [], json: null };

/**
 * Returns the models of a pass-through body: JSON, or a form. Throws `bad_request` for a batch of a file and a compressed body, and with
 * `isRestricted` for every body in which a model may be hidden.
 */
export async function modelsInBody(body: PassedBody, sources: ModelSources, isRestricted: boolean): Promise<BodyModels> {
  const { bytes, request, path, hasModelInPath } = body;
  if (isEncoded(request)) throw hiddenModel('content-encoding', 'send the body uncompressed');
  const text = textOf(bytes);
  const contentType = request.header('content-type') ?? 'application/json';
  // An encoded form may be JSON as well: `{"model":"good","x":"&model=other&"}`.
  if (formType.test(contentType)) return { ...noModels, called: await inForm(body, text, contentType, isRestricted) };
  const json = parseObject(text);
  if (json === null) {
    // Some providers accept what the gateway does not: UTF-16, a byte order mark, NaN.
    const isHidden = isJsonType(contentType) || (!hasModelInPath && !mediaType.test(contentType));
    if (isRestricted && isHidden) throw notOneModel('the body, which is no JSON object');
    return noModels;
  }
  const field = batchFileFields.find((name) => name in json);
  if (field !== undefined) throw hiddenModel(field, 'create the batch with POST /v1/batches');
  if (isRestricted) refuseHidden(path, json, sources);
  const further = isRestricted ? furtherModels(json) : [];
  const called = [
    ...(isRestricted ? alternativeModels(json) : []),
    ...[json.model, json.modelId].filter(isText),
    ...(sources.inBody?.(path, json) ?? []),
    ...inSessions(path, sessionsIn(json), isRestricted),
    ...inBatch(json.requests, isRestricted),
  ];
  return { called, further, json };
}

/** Throws `bad_request` for JSON whose model cannot be known. */
function refuseHidden(path: string, body: JsonObject, sources: ModelSources): void {
  const hidden = sources.hidden?.(path, body) ?? null;
  if (hidden !== null) throw hiddenModel(hidden.param, hidden.remedy);
  // Agents of Mistral have models of their own.
  if ('agent_id' in body) throw hiddenModel('agent_id', 'name the model instead');
  requireReadableModel(body, 'the body');
}

/** Returns the models of requests in a batch: `params` of Anthropic, `body` of Mistral. */
function inBatch(requests: unknown, isRestricted: boolean): string[] {
  return objectsIn(requests).flatMap((request) =>
    [request.params, request.body].filter(isObject).flatMap((inner) => {
      if (isRestricted) requireOne(inner, modelFields, 'a request of the batch');
      return [...(isRestricted ? alternativeModels(inner) : []), ...[inner.model, inner.modelId].filter(isText)];
    }),
  );
}

/** Returns the models of sessions that the body of a request for a client secret or a call describes. */
function inSessions(path: string, sessions: readonly unknown[], isRestricted: boolean): string[] {
  if (sessions.length === 0 || !startsSession(path)) return [];
  if (isRestricted && sessions.length > 1) throw notOneModel('the session of the body');
  return sessions.flatMap((session) => {
    const fields = isObject(session) ? session : {};
    if (isRestricted) requireOne(fields, ['model'], 'the session of the body');
    return [fields.model].filter(isText);
  });
}

function sessionsIn(body: JsonObject): unknown[] {
  return Object.keys(body).flatMap((name) => (isSpelling(name, ['session']) ? [body[name]] : []));
}

async function inForm(
  { bytes, path, inTurns }: PassedBody,
  text: string,
  contentType: string,
  isRestricted: boolean,
): Promise<string[]> {
  if (/^application\/x-www-form-urlencoded\b/i.test(contentType)) {
    const fields = [...new URLSearchParams(text)].filter(([name]) => isModelField(name));
    if (isRestricted && (fields.length > 1 || fields.some(([name]) => name !== 'model'))) throw notOneModel('the form');
    return fields.filter(([name]) => isSpelling(name, modelFields)).map(([, value]) => value);
  }
  let parts: FormPart[] = [];
  try {
    parts = await parseForm(bytes, contentType, inTurns);
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.code === 'client_closed') throw thrown;
    throw notOneModel('the form');
  }
  const given = parts.filter((part) => isModelField(part.name));
  if (isRestricted && (given.length > 1 || given.some((part) => part.name !== 'model' || part.filename !== null))) {
    throw notOneModel('the form');
  }
  const sessions = parts.filter(({ name }) => isSpelling(name, ['session'])).map((part) => parseObject(partText(part)));
  const inside = inSessions(path, sessions, isRestricted);
  if (isRestricted) inside.push(...sessions.flatMap((session) => furtherModels(session ?? {})));
  const models = given.filter((part) => isSpelling(part.name.replace(/\[\]$/, ''), modelFields));
  return [...Object.values(paramsOfForm(models)).flat().filter(isText), ...inside];
}

const formType = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\b/i;
const mediaType = /^(?:audio\/|video\/|image\/|application\/(?:octet-stream|sdp|pdf)\b)/i;

/** Throws unless one of these fields is present, and the model fields have no other spelling and no value but a string. */
export function requireOne(params: JsonObject, fields: readonly string[], where: string): void {
  requireReadableModel(params, where);
  if (!fields.some((field) => params[field] !== undefined)) throw notOneModel(where);
}
