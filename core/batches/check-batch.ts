import type { RequestContext } from '../contract/plugin/context.ts';
import { type CheckBatchLine, operationOfLines } from '../contract/plugin/requests/batch-line.ts';
import type { StepServices } from '../contract/provider/provider.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { hasDuplicateKeys } from '../contract/values/json/duplicate-keys.ts';
import { isObject, type JsonObject, parseObject } from '../contract/values/json/json.ts';
import { hasTooManyValues, tooManyValues } from '../contract/values/json/line-limits.ts';
import { furtherModels, requireReadableModel } from '../contract/values/models/readable-models.ts';
import { lineTooLong, textLines } from '../contract/values/text/text-lines.ts';
import { DenialError } from '../pipeline/attempt/denial-error.ts';
import type { Outgoing } from '../pipeline/attempt/outgoing-call.ts';
import { type StepTransport, stepsOf } from '../pipeline/run-attempt.ts';
import type { ResolvedTarget } from '../pipeline/target/resolve-target.ts';

const lineCharactersMax = 32 * 1024 * 1024;

/** The checks of the lines of a batch. At least one of them is not null. */
interface LineChecks {
  /** Throws `model_not_allowed` for a model that the integration restricts. */
  readonly allow: ((model: string) => void) | null;
  readonly checkLine: CheckBatchLine | null;
}

/**
 * Checks the models and lines of a batch before a provider runs it. Reads the input files from the provider, because they may have been
 * uploaded elsewhere or earlier, and no provider changes a file under its id. Returns the call to send. Throws `bad_request` for input that
 * cannot be checked, and DenialError for a line that is denied.
 */
export async function checkBatch(
  ctx: RequestContext,
  resolved: ResolvedTarget,
  outgoing: Outgoing,
  transport: StepTransport,
  checks: LineChecks,
): Promise<Outgoing> {
  const { operation, operationCall, call } = outgoing;
  if (!operation || !operationCall) return outgoing;
  const { allow, checkLine } = checks;
  const reason = allow ? 'models are restricted' : 'guardrails check its lines';
  if (operation.steps) {
    if (!operation.checksLines) throw unjudged(`this provider cannot create a batch while ${reason}`);
    const { endpoint } = operationCall.params;
    return {
      ...outgoing,
      operationCall: {
        ...operationCall,
        ...(allow ? { allowModel: allow } : {}),
        ...(checkLine ? { checkLine: (url, body) => checkedLine(checkLine, url, endpoint, body) } : {}),
      },
    };
  }
  const body = call.body instanceof Uint8Array ? parseObject(call.body) : null;
  if (!body || !operation.requestFiles) throw unjudged(`this provider cannot create a batch while ${reason}`);
  const other = Object.keys(body).find((name) => /input|request|agent|file/i.test(name) && !judged.has(name));
  if (other !== undefined) throw unjudged(`expected a file of requests, because ${reason}`, other);
  if (typeof body.model === 'string') allow?.(body.model);
  const files = operation.requestFiles(body, operationCall);
  if (files.length === 0) throw unjudged('the id of a file is expected', 'input_file_id');
  const { services, abort } = stepsOf(ctx, resolved, outgoing, transport);
  try {
    for (const path of files) await checkFile(path, services, checks, body.endpoint);
  } finally {
    abort();
  }
  return outgoing;
}

/** Fields of a new batch that name its input files. The input files are checked. */
const judged: ReadonlySet<string> = new Set(['input_file_id', 'input_files']);

async function checkFile(path: string, services: StepServices, checks: LineChecks, endpoint: unknown): Promise<void> {
  const response = await services.send({ method: 'GET', path });
  if (response.status >= 300) {
    const error = await services.error(response);
    const message = `input_file_id: the file cannot be read to check its lines: ${error.message}`;
    throw new GatewayError('bad_request', { message, param: 'input_file_id', cause: error });
  }
  let number = 0;
  for await (const text of textLines(response.body, lineCharactersMax)) {
    number++;
    if (text === lineTooLong) throw unjudged(`at most ${lineCharactersMax} characters are expected`, lineOf(number));
    if (hasTooManyValues(text)) throw unjudged(tooManyValues, lineOf(number));
    if (text.trim() === '') continue;
    const { url, body } = readLine(text, number, checks.allow);
    if (checks.checkLine) await checkedLine(checks.checkLine, url, endpoint, body, true);
  }
}

/** Returns the body that the line is sent with. Throws DenialError. */
async function checkedLine(
  check: CheckBatchLine,
  url: unknown,
  endpoint: unknown,
  body: JsonObject,
  isFixed = false,
): Promise<JsonObject> {
  // Providers decide by the endpoint of the batch. A line that names another one is of unknown form.
  const operation = url === endpoint || url === undefined || url === '' ? operationOfLines(endpoint) : null;
  const outcome = await check({ operation, body, isFixed });
  if (outcome?.action === 'deny') throw new DenialError(outcome.reply);
  return outcome?.body ?? body;
}

/** Returns the request of a line, whose model is allowed. */
function readLine(text: string, number: number, allow: LineChecks['allow']): { url: unknown; body: JsonObject } {
  const line = parsed(text);
  if (!isObject(line) || !isObject(line.body)) throw unjudged('a JSON object with a body is expected', lineOf(number));
  // If a key is repeated, the provider may use another value than the one that is checked here.
  if (hasDuplicateKeys(text, line)) throw unjudged('duplicate key', lineOf(number));
  const { url, body } = line;
  if (allow === null) return { url, body };
  const { model, ...others } = body;
  requireReadableModel(others, lineOf(number));
  for (const each of [model, others.modelId, ...furtherModels(others)]) {
    if (each === undefined || each === null) continue;
    if (typeof each !== 'string') throw unjudged('body.model: a text is expected', lineOf(number));
    allow(each);
  }
  return { url, body };
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
