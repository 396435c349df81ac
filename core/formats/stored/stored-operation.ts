import type {
  Operation,
  OperationCall,
  StepReply,
  StepRequest,
  StepResponse,
  StepServices,
} from '../../contract/provider/provider.ts';
import { findHeader } from '../../contract/values/http/http.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { utcMs } from '../../contract/values/time/utc-time.ts';
import { uncounted } from '../never-streams.ts';

/** Returns an operation on stored resources that consists of several exchanges. */
export function storedOperation(steps: (call: OperationCall, services: StepServices) => Promise<StepReply>): Operation {
  return { path: () => '', steps, ...uncounted };
}

/** Makes one exchange. Rejects with `upstream_status` for any status except success. */
export async function exchange(services: StepServices, request: StepRequest): Promise<StepResponse> {
  const response = await services.send(request);
  if (response.status >= 300) throw await services.error(response);
  return response;
}

/** Returns a JSON body with its header, as part of a request. */
export function jsonBody(body: JsonObject): Pick<StepRequest, 'headers' | 'body'> {
  return { headers: ['content-type', 'application/json'], body: Buffer.from(JSON.stringify(body)) };
}

/** Makes one exchange of JSON. Without `body` the request has none. */
export async function askForJson(services: StepServices, method: string, path: string, body?: JsonObject): Promise<JsonObject> {
  return (await exchange(services, { method, path, ...(body ? jsonBody(body) : {}) })).json();
}

export function jsonReply(body: JsonObject): StepReply {
  return { status: 200, contentType: 'application/json', body };
}

/** Returns a page of OpenAI's lists. */
export function listReply(data: readonly JsonObject[], hasMore: boolean): StepReply {
  return jsonReply({ object: 'list', data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: hasMore });
}

/** Returns lines of results in OpenAI's form. */
export function linesReply(lines: AsyncIterable<Uint8Array>): StepReply {
  return { status: 200, contentType: 'application/jsonl', body: lines };
}

/** Returns a file's bytes unchanged. */
export function bytesReply({ headers, body }: StepResponse): StepReply {
  return { status: 200, contentType: findHeader(headers, 'content-type') ?? 'application/octet-stream', body };
}

/** Returns the Unix seconds of an ISO time. Null for other values. */
export function secondsOf(time: unknown): number | null {
  const ms = typeof time === 'string' ? utcMs(time) : Number.NaN;
  return Number.isNaN(ms) ? null : Math.floor(ms / 1000);
}

/** Returns the page size that a client requested, between 1 and 100. */
export function limitOf(query: URLSearchParams, fallback = 20): number {
  const limit = Number(query.get('limit') ?? fallback);
  return Number.isInteger(limit) && limit >= 1 ? Math.min(limit, 100) : fallback;
}

/** True if the query requests the provider's own response beside the translated one. */
export function wantsDetails(call: OperationCall): boolean {
  return new URLSearchParams(call.query).get('include_provider_details') === 'true';
}
