import type { RequestContext } from '../contract/plugin/context.ts';
import type { StepServices } from '../contract/provider/provider.ts';
import { GatewayError } from '../contract/values/errors.ts';
import { isObject, type JsonObject } from '../contract/values/json.ts';
import { lineTooLong, textLines } from '../contract/values/text-lines.ts';
import type { Outgoing } from '../pipeline/attempt/outgoing-call.ts';
import { parseJson } from '../pipeline/attempt/reply-body.ts';
import { stepsOf } from '../pipeline/attempt/run-steps.ts';
import type { StepTransport } from '../pipeline/run-attempt.ts';
import type { ResolvedTarget } from '../pipeline/target/resolve-target.ts';

const lineCharactersMax = 32 * 1024 * 1024;

/**
 * Checks the models of a batch before a provider runs it: `allow` throws `model_not_allowed` for those that the integration
 * restricts. Reads the input files from the provider, because they may have been uploaded elsewhere or earlier, and no provider
 * changes a file under its id. Returns the call to send. Throws `bad_request` for input that cannot be checked.
 */
export async function checkBatch(
  ctx: RequestContext,
  resolved: ResolvedTarget,
  outgoing: Outgoing,
  transport: StepTransport,
  allow: (model: string) => void,
): Promise<Outgoing> {
  const { operation, operationCall, call } = outgoing;
  if (!operation || !operationCall) return outgoing;
  if (operation.steps) {
    if (!operation.checksModels) throw unjudged('this provider cannot create batches while models are restricted');
    return { ...outgoing, operationCall: { ...operationCall, allowModel: allow } };
  }
  const body = call.body instanceof Uint8Array ? parseJson(call.body) : null;
  if (!body || !operation.requestFiles) throw unjudged('this provider cannot create batches while models are restricted');
  const other = Object.keys(body).find((name) => /input|request|agent|file/i.test(name) && !judged.has(name));
  if (other !== undefined) throw unjudged('while models are restricted, expected a file of requests', other);
  if (typeof body.model === 'string') allow(body.model);
  const files = operation.requestFiles(body, operationCall);
  if (files.length === 0) throw unjudged('the id of a file is expected', 'input_file_id');
  const { services, abort } = stepsOf(ctx, resolved, outgoing, transport);
  try {
    for (const path of files) await checkFile(path, services, allow);
  } finally {
    abort();
  }
  return outgoing;
}

/** Fields of a new batch that name its input files. The input files are checked. */
const judged: ReadonlySet<string> = new Set(['input_file_id', 'input_files']);

async function checkFile(path: string, services: StepServices, allow: (model: string) => void): Promise<void> {
  const response = await services.send({ method: 'GET', path });
  if (response.status >= 300) {
    const error = await services.error(response);
    const message = `input_file_id: models are restricted, and the file cannot be read to check them: ${error.message}`;
    throw new GatewayError('bad_request', { message, param: 'input_file_id', cause: error });
  }
  let number = 0;
  for await (const text of textLines(response.body, lineCharactersMax)) {
    number++;
    if (text === lineTooLong) throw unjudged(`at most ${lineCharactersMax} characters are expected`, lineOf(number));
    if (text.trim() !== '') checkLine(text, number, allow);
  }
}

function checkLine(text: string, number: number, allow: (model: string) => void): void {
  const line = parsed(text);
  if (!isObject(line) || !isObject(line.body)) throw unjudged('a JSON object with a body is expected', lineOf(number));
  // With duplicate keys, the provider may use another value than the one that is checked here.
  if (keysIn(text) !== keysOf(line)) throw unjudged('duplicate key', lineOf(number));
  const { model } = line.body;
  if (model === undefined || model === null) return;
  if (typeof model !== 'string') throw unjudged('body.model: a text is expected', lineOf(number));
  allow(model);
}

function unjudged(problem: string, param = 'input_file_id'): GatewayError {
  return new GatewayError('bad_request', { message: `${param}: ${problem}`, param: param });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function lineOf(number: number): string {
  return `input_file_id line ${number}`;
}

/** Counts the keys in the JSON text: its colons outside of strings. */
function keysIn(text: string): number {
  let keys = 0;
  let inText = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inText && code === backslash) i++;
    else if (code === quote) inText = !inText;
    else if (code === colon && !inText) keys++;
  }
  return keys;
}

const quote = 34;
const colon = 58;
const backslash = 92;

/** Counts the keys of the parsed value. */
function keysOf(value: JsonObject): number {
  let keys = 0;
  const open: object[] = [value];
  for (let next = open.pop(); next; next = open.pop()) {
    const children = Object.values(next);
    if (!Array.isArray(next)) keys += children.length;
    for (const child of children) if (typeof child === 'object' && child !== null) open.push(child);
  }
  return keys;
}
