import type {
  Operation,
  OperationCall,
  ProviderSettings,
  StepRequest,
  StepResponse,
  StepServices,
} from '../../contract/provider/provider.ts';
import { withoutTrailingSlashes } from '../../contract/values/addresses/trailing-slashes.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { isObject, type JsonObject, textOrNull } from '../../contract/values/json/json.ts';
import { exchange, jsonReply, storedOperation } from '../../formats/stored/stored-operation.ts';

/** Returns the provider's name for a resource of the account: `accounts/<account>/datasets/<id>`. Throws `invalid_config`. */
export function accountPath(settings: ProviderSettings, path: string): string {
  const account = settings.fireworks_account_id;
  if (typeof account === 'string' && account !== '') return `accounts/${account}${path}`;
  throw new GatewayError('invalid_config', {
    message: 'fireworks_account_id: required by fireworks-ai for files and fine-tuning',
    param: 'fireworks_account_id',
  });
}

/**
 * Makes one exchange about the account. Its API is at `/v1`, beside `/inference/v1` of the models. Rejects with `upstream_status`
 * for any status except success.
 */
export async function askAccount(
  call: OperationCall,
  services: StepServices,
  request: StepRequest & { readonly query?: URLSearchParams },
): Promise<StepResponse> {
  const { query, ...rest } = request;
  const host = new URL(typeof call.settings.custom_host === 'string' ? call.settings.custom_host : 'https://api.fireworks.ai/v1');
  const root = withoutTrailingSlashes(host.pathname).replace(/\/inference\/v1$/, '/v1');
  const path = `${root}/${accountPath(call.settings, request.path)}${query && query.size > 0 ? `?${query}` : ''}`;
  return exchange(services, { ...rest, origin: host.origin, path });
}

/** Returns an operation of such exchanges. */
export function accountOperation(steps: (call: OperationCall, services: StepServices) => Promise<JsonObject>): Operation {
  return storedOperation(async (call, services) => jsonReply(await steps(call, services)));
}

/** Returns the page of a list for this token, under the provider's name of the list. */
export async function accountPage(
  call: OperationCall,
  services: StepServices,
  path: string,
  name: string,
  token: string | null,
): Promise<{ items: JsonObject[]; next: string | null }> {
  const query = new URLSearchParams({ pageSize: '200', ...(token === null ? {} : { pageToken: token }) });
  const reply = await (await askAccount(call, services, { method: 'GET', path, query })).json();
  const items = Array.isArray(reply[name]) ? (reply[name] as unknown[]).filter(isObject) : [];
  return { items, next: textOrNull(reply.nextPageToken) };
}

/** Returns the last part of a name: `d1` of `accounts/a/datasets/d1`. */
export function lastOf(name: unknown): string | null {
  return typeof name === 'string' && name !== '' ? name.slice(name.lastIndexOf('/') + 1) : null;
}
