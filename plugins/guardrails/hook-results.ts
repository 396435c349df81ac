import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { GuardrailRecord } from '../../core/contract/plugin/guardrails/guardrail-result.ts';
import type { Reply } from '../../core/contract/plugin/plugin.ts';
import { geminiError } from '../../core/contract/values/errors/gemini-errors.ts';
import type { JsonObject } from '../../core/contract/values/json/json.ts';
import { isoTime } from '../../core/contract/values/time/iso-time.ts';
import type { Guardrail } from './compile.ts';
import type { CheckResult, GuardrailResult } from './run.ts';

/** Results of both sides, as replies show them. */
export interface HookResults {
  readonly before: readonly GuardrailResult[];
  readonly after: readonly GuardrailResult[];
}

const failedText = 'The guardrail checks defined in the config failed.';
const seeResults = ' You can find more information in the `hook_results` object.';

/** Returns true if the guardrail ends the request or the attempt. */
export function isDenied({ guardrail, verdict, checks }: GuardrailResult): boolean {
  return !verdict && (guardrail.deny || checks.some(({ stops }) => stops));
}

/** Returns the text of a denial: that of the first guardrail that denies and has one, otherwise the common text. */
export function denialText(results: readonly GuardrailResult[]): string {
  return ownText(results) ?? failedText;
}

function ownText(results: readonly GuardrailResult[]): string | null {
  return results.find((result) => result.guardrail.message !== null && isDenied(result))?.guardrail.message ?? null;
}

/** Returns true if the guardrail may end a request or an attempt: it denies or redacts. */
export function mayDeny({ deny, checks }: Guardrail): boolean {
  return deny || checks.some(({ redacts }) => redacts);
}

/**
 * The reply with status 446. Clients of the Messages API show the message of an error only if its body has `"type": "error"`. Those of Google read the
 * members of its errors.
 */
export function denialOf(results: HookResults, { endpoint }: Pick<RequestContext, 'endpoint'>): Reply {
  const message = ownText([...results.before, ...results.after]) ?? failedText + seeResults;
  const gemini = endpoint?.errorForm === 'gemini' ? geminiError({ status: 446, message, reason: 'hooks_failed' }) : {};
  const error = { message, type: 'hooks_failed', param: null, code: null, ...gemini };
  const type = endpoint?.format === 'messages' ? '"type":"error",' : '';
  return {
    status: 446,
    headers: ['content-type', 'application/json'],
    body: `{${type}"error":${JSON.stringify(error)},"hook_results":${deniedResults(results)}}`,
  };
}

/** JSON of the results of a denial. Results of the response contain no text of it, because the client must not receive denied text. */
export function deniedResults({ before, after }: HookResults): string {
  return `{"before_request_hooks":${listJson(before)},"after_request_hooks":${listJson(after, withoutText)}}`;
}

/** Returns the body of a reply with `hook_results` as its last member; other bodies than JSON objects come back unchanged. */
export function withHookResults(
  body: Uint8Array,
  { before, after }: Pick<HookResults, 'before'> & Partial<HookResults>,
): Uint8Array {
  let end = body.length - 1;
  while (end >= 0 && isSpace(body[end])) end--;
  if (end < 1 || body[end] !== brace) return body;
  let last = end - 1;
  while (last >= 0 && isSpace(body[last])) last--;
  const comma = body[last] === openBrace ? '' : ',';
  const afterJson = after ? `,"after_request_hooks":${listJson(after)}` : '';
  const added = `${comma}"hook_results":{"before_request_hooks":${listJson(before)}${afterJson}}}`;
  const all = Buffer.allocUnsafe(end + Buffer.byteLength(added));
  all.set(end === body.length ? body : body.subarray(0, end));
  all.write(added, end);
  return all;
}

/** The event that shows the results of the request before the first event of a stream, or those of the response after its last event. */
export function resultsEvent(
  format: 'chat' | 'messages' | 'responses' | 'plain',
  side: 'before' | 'after',
  results: readonly GuardrailResult[],
): string {
  // Helpers of OpenAI's SDKs read the choices of every event of a chat.
  const choices = format === 'chat' ? ',"choices":[]' : '';
  const data = `data: {${resultsMember(side, results)}${choices}}\n\n`;
  return format === 'messages' ? `event: hook_results\n${data}` : data;
}

/** Returns the member `hook_results` of an event with the results of one side. */
export function resultsMember(side: 'before' | 'after', results: readonly GuardrailResult[]): string {
  return `"hook_results":{"${side}_request_hooks":${listJson(results)}}`;
}

/**
 * Returns the bytes of a stream with the member added to the first event that begins in them, and unchanged if none does. `member`: JSON of a
 * member.
 */
export function withMemberInFirstEvent(chunk: Uint8Array, member: string): Uint8Array {
  const found = firstData.exec(
    Buffer.from(chunk.buffer, chunk.byteOffset, Math.min(chunk.length, searchedBytes)).toString('latin1'),
  );
  if (found === null) return chunk;
  const at = found.index + found[0].length;
  return Buffer.concat([chunk.subarray(0, at), Buffer.from(`${member},`), chunk.subarray(at)]);
}

/** Comments in front of the first event are shorter. A held stream is one chunk. */
const searchedBytes = 64 * 1024;

/** Matches the beginning of an event whose data is an object with members. */
const firstData = /(?:^|[\r\n])data: ?\{(?=")/;

const openBrace = 0x7b;
const brace = 0x7d;

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Data of a check that hold nothing of the text: its explanation, and what a webhook returned. */
function withoutText(data: CheckResult['data']): JsonObject | null {
  if (data === null) return null;
  const { explanation, responseData } = data;
  return { ...(explanation === undefined ? {} : { explanation }), ...(responseData === undefined ? {} : { responseData }) };
}

/** Returns one result as replies show it. */
export function toHookResult(result: GuardrailResult): JsonObject {
  return JSON.parse(resultJson(result, (data) => data)) as JsonObject;
}

// Every reply with guardrails has results, so they are written as text without objects in between.
function listJson(results: readonly GuardrailResult[], dataOf = (data: CheckResult['data']) => data): string {
  let list = '';
  for (const result of results) list += (list === '' ? '' : ',') + resultJson(result, dataOf);
  return `[${list}]`;
}

function resultJson(result: GuardrailResult, dataOf: (data: CheckResult['data']) => CheckResult['data']): string {
  const { guardrail, verdict, checks, durationMs, createdAtMs } = result;
  const transformed = checks.some(({ body }) => body !== undefined);
  let list = '';
  for (const check of checks) list += (list === '' ? '' : ',') + checkJson(check, dataOf(check.data));
  const feedback = feedbackOf(result);
  return (
    `{"verdict":${verdict},"id":${nameJson(guardrail.id)},"transformed":${transformed},"checks":[${list}],"feedback":${feedback === null ? 'null' : JSON.stringify(feedback)},` +
    `"execution_time":${Math.round(durationMs)},"async":${guardrail.async},"type":"${guardrail.type}",` +
    `"created_at":"${isoTime(createdAtMs)}","deny":${isDenied(result)}}`
  );
}

function checkJson(
  { id, verdict, error, body, durationMs, createdAtMs, failOnError }: CheckResult,
  data: JsonObject | null,
): string {
  const errorJson = error ? `"error":${JSON.stringify(error)},` : '';
  return (
    `{"data":${data === null ? 'null' : dataJson(data)},"verdict":${verdict},"id":${nameJson(id)},${errorJson}` +
    `"execution_time":${Math.round(durationMs)},"transformed":${body !== undefined},` +
    `"created_at":"${isoTime(createdAtMs)}","log":null,"fail_on_error":${failOnError}}`
  );
}

/** JSON of an id. Most have no character that needs an escape. */
function nameJson(id: string): string {
  return /^[\w.-]*$/.test(id) ? `"${id}"` : JSON.stringify(id);
}

/** JSON of data that a check returns again and again. */
const written = new WeakMap<JsonObject, string>();

function dataJson(data: JsonObject): string {
  const known = written.get(data);
  if (known !== undefined) return known;
  const json = JSON.stringify(data);
  if (Object.isFrozen(data)) written.set(data, json);
  return json;
}

/** The feedback that the config sets for this verdict, with the ids of the checks; null if it sets none. */
function feedbackOf({ guardrail, verdict, checks }: GuardrailResult): JsonObject | null {
  const feedback = verdict ? guardrail.onSuccess : guardrail.onFail;
  if (feedback === null) return null;
  const ids = (of: (check: CheckResult) => boolean): string =>
    checks
      .filter(of)
      .map(({ id }) => id)
      .join(', ');
  return {
    value: feedback.value,
    weight: feedback.weight,
    metadata: {
      ...feedback.metadata,
      successfulChecks: ids((check) => check.error === undefined && check.verdict),
      failedChecks: ids((check) => check.error === undefined && !check.verdict),
      erroredChecks: ids((check) => check.error !== undefined),
    },
  };
}

/** Bounds the guardrails in a record: targets × retries, and calls of tools, can be many. */
const recordsMax = 200;

/** Adds results to the record of the request. Denials are always added; others beyond the maximum are counted. */
export function recordResults(ctx: RequestContext, results: readonly GuardrailResult[], targetPath: string | null): void {
  ctx.guardrails ??= [];
  for (const result of results) {
    const record = toRecord(result, targetPath);
    if (ctx.guardrails.length < recordsMax || record.deny) ctx.guardrails.push(record);
    else ctx.guardrailsOmitted++;
  }
}

/** The result as the record of the request holds it: without texts. */
export function toRecord(result: GuardrailResult, targetPath: string | null): GuardrailRecord {
  const { guardrail, verdict, checks } = result;
  return {
    id: guardrail.id,
    side: guardrail.side,
    type: guardrail.type,
    targetPath,
    verdict,
    deny: !guardrail.async && isDenied(result),
    async: guardrail.async,
    transformed: checks.some(({ body }) => body !== undefined),
    durationMs: roundMs(result.durationMs),
    checks: checks.map((check) => ({
      id: check.id,
      verdict: check.verdict,
      error: check.error?.name ?? null,
      failedOpen: check.error !== undefined && check.passed,
      durationMs: roundMs(check.durationMs),
    })),
    feedback: verdict ? guardrail.onSuccess : guardrail.onFail,
  };
}

function roundMs(ms: number): number {
  return Math.round(ms * 100) / 100;
}
