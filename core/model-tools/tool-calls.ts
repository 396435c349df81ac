import { type ErrorCode, errorTable, GatewayError } from '../contract/values/errors/errors.ts';
import { findHeader, type HeaderList } from '../contract/values/http/http.ts';
import { functionSchema } from '../contract/values/json/function-schema.ts';
import { isObject, type JsonObject, objectsIn, parseObject } from '../contract/values/json/json.ts';
import { counted } from '../contract/values/text/counted.ts';
import { framesOf } from '../contract/values/text/event-frames.ts';
import { dataOf, isEventStream } from '../contract/values/text/event-text.ts';
import { textOf } from '../contract/values/text/utf8.ts';
import type { InnerReply } from '../pipeline/inner-request.ts';
import type { CheckValue } from './check-values.ts';
import type { ModelTool, NamedServer, ToolCall, ToolResult } from './tool-format.ts';
import { modelName } from './tool-names.ts';

/** Sends a message to an endpoint of the MCP gateway with the credentials of the client. */
export type SendMessage = (path: string, headers: HeaderList, body: Uint8Array) => Promise<InnerReply>;

/** Pages of one list of tools. */
const pagesMax = 20;
/** Tools of all servers together. */
const toolsMax = 256;
/** Characters of the definitions of all tools together. More do not fit into the context of a model, and many megabytes stop the process for seconds. */
const definitionsLengthMax = 4 * 1024 * 1024;
/** Levels of a definition. Clients may send as many, and thousands exceed the stack. */
const depthMax = 64;
/** Characters of a result that the model receives. */
const resultLengthMax = 256 * 1024;

/** Lists the tools of all servers that the request allows. Throws GatewayError with the field that names the server. */
export async function listTools(send: SendMessage, servers: readonly NamedServer[]): Promise<ModelTool[]> {
  const listed: Listed = { length: 0 };
  const lists = await Promise.all(servers.map((server) => toolsOf(send, server, listed)));
  const tools = lists.flat();
  if (tools.length <= toolsMax) return tools;
  const { path } = servers[0] as NamedServer;
  throw new GatewayError('bad_request', {
    message: `${path}: the servers have ${tools.length} tools; at most ${toolsMax} can be sent to a model. Select some, or use servers with tool search`,
    param: path,
  });
}

/** Characters of the definitions that have been read. */
interface Listed {
  length: number;
}

async function toolsOf(send: SendMessage, { slug, path, allows }: NamedServer, listed: Listed): Promise<ModelTool[]> {
  const tools: ModelTool[] = [];
  // Providers refuse two tools with one name.
  const names = new Set<string>();
  let cursor: unknown;
  for (let page = 0; page < pagesMax; page++) {
    const { status, message } = await request(send, slug, 'tools/list', cursor === undefined ? {} : { cursor });
    if (!isObject(message.result)) throw listError(slug, path, status, message);
    for (const tool of Array.isArray(message.result.tools) ? message.result.tools : []) {
      if (!isObject(tool) || typeof tool.name !== 'string' || names.has(tool.name) || !allows(tool.name)) continue;
      names.add(tool.name);
      if (isDeeper(tool, depthMax))
        throw listError(slug, path, 502, {
          error: { message: `tool '${tool.name.slice(0, 200)}' is nested deeper than ${depthMax} levels` },
        });
      listed.length += JSON.stringify(tool).length;
      if (listed.length > definitionsLengthMax) throw definitionsTooLong(path);
      tools.push({
        ...{ name: modelName(slug, tool.name), server: slug, tool: tool.name },
        description: typeof tool.description === 'string' ? tool.description : '',
        inputSchema: functionSchema(isObject(tool.inputSchema) ? tool.inputSchema : {}),
        outputSchema: isObject(tool.outputSchema) ? tool.outputSchema : null,
      });
    }
    const next = message.result.nextCursor;
    if (next === cursor) break;
    cursor = next;
    if (typeof cursor !== 'string' || cursor === '') break;
  }
  return tools;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

function definitionsTooLong(path: string): GatewayError {
  return new GatewayError('bad_request', {
    message: `${path}: the tools of the servers have definitions of more than ${definitionsLengthMax} characters. Select some, or use servers with tool search`,
    param: path,
  });
}

const refusals: ReadonlySet<number> = new Set([401, 403, 404, 412, 429]);

/** The code of a refusal stays, and so does the status of one by the server itself, such as a rate limit. All other errors of clients are 400. */
function listError(slug: string, path: string, status: number, message: JsonObject): GatewayError {
  const error = isObject(message.error) ? message.error : {};
  const data = isObject(error.data) ? error.data : {};
  const url = typeof data.authorizationUrl === 'string' ? `. Connect an account first: ${data.authorizationUrl}` : '';
  const hasNoResult = status === 200 && message.error === undefined;
  const isOfClient = status < 500 && !hasNoResult;
  const own = refusalCode(status, [error.name, data.code, message.error]);
  const code = own ?? (refusals.has(status) ? 'upstream_status' : isOfClient ? 'bad_request' : 'upstream_invalid');
  const reason = `${unwrapped(errorText(error) ?? errorText(message) ?? (hasNoResult ? 'it sent no result' : `status ${status}`), code)}${url}`;
  return new GatewayError(code, {
    message: `${path}: the tools of the MCP server '${slug}' could not be listed: ${reason}`,
    ...(isOfClient ? { param: path } : {}),
    ...(code === 'upstream_status' ? { status } : {}),
  });
}

/** Returns the code of a refusal by the gateway among the names in its reply; null if none belongs to the status, as in a reply of the server itself. */
function refusalCode(status: number, named: readonly unknown[]): ErrorCode | null {
  if (!refusals.has(status)) return null;
  const code = named.find((name) => typeof name === 'string' && Object.hasOwn(errorTable, name)) as ErrorCode | undefined;
  if (code !== undefined && errorTable[code].status === status) return code;
  // Every 401 is by the gateway: the MCP endpoint replies 502 if a server rejects a credential.
  return status === 401 ? 'invalid_api_key' : null;
}

/** Returns the text of an authentication error without the frame that it gets again in the reply. */
function unwrapped(text: string, code: ErrorCode): string {
  const { authCode } = errorTable[code];
  if (authCode === null) return text;
  return text.replace(/^Svc Error: /, '').replace(`. Error Code: ${authCode}`, '');
}

/**
 * Calls a tool. Failures are results too, so that the model can react to them. Arguments that break the schema of the tool are not sent, and a
 * result that breaks it does not reach the model.
 */
export async function callTool(send: SendMessage, check: CheckValue, { tool, sent }: ToolCall): Promise<ToolResult> {
  const named = sent.trim() === '' ? {} : parseObject(sent);
  if (named === null) return { text: 'The arguments are not a JSON object', isError: true };
  const mismatch = await check('inputSchema', tool.inputSchema, named);
  if (mismatch !== null) return { text: `The tool was not called. ${mismatch}`, isError: true };
  const { status, message } = await request(send, tool.server, 'tools/call', { name: tool.tool, arguments: named });
  if (!isObject(message.result)) {
    const error = isObject(message.error) ? message.error : message;
    const reason = isObject(error.data) && typeof error.data.reason === 'string' ? `: ${error.data.reason}` : '';
    return { text: `${errorText(error) ?? `The tool failed with status ${status}`}${reason}`, isError: true };
  }
  if (message.result.isError === true) return { text: shortened(textOfResult(message.result)), isError: true };
  const problem = await checkResult(check, tool, message.result);
  if (problem !== null) return { text: `The tool was called, but its result is left out. ${problem}`, isError: true };
  return { text: shortened(textOfResult(message.result)), isError: false };
}

/** Returns why a result breaks the schema of its tool; null if it does not, or the tool has no such schema. */
async function checkResult(check: CheckValue, { outputSchema }: ModelTool, { structuredContent }: JsonObject) {
  if (outputSchema === null) return null;
  if (structuredContent === undefined) return 'The tool has an outputSchema, but the result has no structuredContent';
  return check('outputSchema', outputSchema, structuredContent);
}

/** Returns the reply to a message; an empty message if there is none. */
async function request(
  send: SendMessage,
  server: string,
  method: string,
  params: JsonObject,
): Promise<{ status: number; message: JsonObject }> {
  const headers = ['content-type', 'application/json', 'accept', 'application/json, text/event-stream'];
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  const reply = await send(`/${server}/mcp`, headers, body);
  return { status: reply.status, message: messageOf(reply) ?? {} };
}

function messageOf({ headers, body }: InnerReply): JsonObject | null {
  if (!isEventStream(findHeader(headers, 'content-type'))) return parseObject(textOf(body));
  for (const frame of framesOf(textOf(body))) {
    const message = parseObject(dataOf(frame) ?? '');
    if (message !== null && message.id === 1 && message.method === undefined) return message;
  }
  return null;
}

/** Models receive text. Other content is named, and structured content is used if there is no text. */
function textOfResult({ content, structuredContent }: JsonObject): string {
  const texts = objectsIn(content).map((part) => {
    if (part.type === 'text' && typeof part.text === 'string') return part.text;
    const resource = isObject(part.resource) ? part.resource : {};
    if (typeof resource.text === 'string') return resource.text;
    return `[${String(part.type)} ${String(part.mimeType ?? part.uri ?? resource.uri ?? '')}]`;
  });
  if (texts.length === 0 && structuredContent !== undefined) return JSON.stringify(structuredContent);
  return texts.join('\n');
}

function shortened(text: string): string {
  if (text.length <= resultLengthMax) return text;
  return `${text.slice(0, resultLengthMax)}\n[left out: ${counted(text.length - resultLengthMax, 'character')}]`;
}

function errorText({ message, error, error_description: description }: JsonObject): string | null {
  if (typeof message === 'string') return message.slice(0, 2_000);
  if (typeof description === 'string') return description.slice(0, 2_000);
  return typeof error === 'string' ? error.slice(0, 2_000) : null;
}
