import type { RequestContext } from '../contract/plugin/context.ts';
import type { CoreServices } from '../contract/plugin/core-plugin.ts';
import type { PluginRequest, Services, Slot } from '../contract/plugin/plugin.ts';
import { documentKinds } from '../contract/protocol/documents.ts';
import { type ErrorCode, toGatewayError } from '../contract/values/errors/errors.ts';
import { isObject } from '../contract/values/json/json.ts';
import { isPromise } from '../contract/values/maybe.ts';
import { readHeaders } from './hook-results.ts';
import { readOnly } from './read-only.ts';
import { requestOf } from './request-view.ts';

/** Returns the services of the public contract only. */
export function publicServices(services: CoreServices): Services {
  return {
    log: services.log,
    clock: services.clock,
    random: () => services.random(),
    newId: () => services.newId(),
    documents: {
      get(kind, id) {
        if (!documentKinds.includes(kind))
          throw new Error(`services.documents.get: unknown kind ${String(kind)}; expected one of ${documentKinds.join(', ')}`);
        const found = services.documents.get(kind, id);
        return isPromise(found) ? found.then((document) => document && readOnly(document)) : found && readOnly(found);
      },
    },
    async countTokens(texts, timeoutMs, workspaceId) {
      if (!Array.isArray(texts) || !texts.every((text) => typeof text === 'string'))
        throw new Error('services.countTokens: expected a list of texts');
      return services.countTokens(texts, timeoutMs, workspaceId);
    },
    fetch: (request) => fetchFor(request, services),
    slot: <T>() => slotOfView(services.slot<T>()),
  };
}

/** Returns a slot for views. Its values are those of the requests. */
function slotOfView<T>(slot: Slot<T, RequestContext>): Slot<T> {
  return {
    get: (view) => slot.get(requestOf(view)),
    set: (view, value) => slot.set(requestOf(view), value),
  };
}

/** Rejects with an Error that names the origin. The errors of `fetch` itself are about providers and their hosts. */
async function fetchFor(request: PluginRequest, { fetch }: CoreServices): ReturnType<Services['fetch']> {
  if (!isObject(request) || typeof request.url !== 'string') throw new Error('services.fetch: expected { url, … }');
  const { timeoutMs = 1 } = request;
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > timeoutMsMax)
    throw new Error(`services.fetch: timeoutMs: expected a whole number from 1 to ${timeoutMsMax}`);
  const headers = readHeaders('services.fetch: headers', request.headers ?? []);
  try {
    return await fetch({ ...request, headers });
  } catch (thrown) {
    const { code, detail, message } = toGatewayError(thrown);
    const reason = `${failures[code] ?? message}${detail === null ? '' : ` (${detail})`}`;
    const url = URL.parse(request.url);
    throw new Error(`services.fetch ${url?.host ? url.origin : 'of an invalid URL'}: ${reason}`, { cause: thrown });
  }
}

/** The maximum of PLUGIN_HOOK_TIMEOUT. */
const timeoutMsMax = 600_000;

const failures: Partial<Record<ErrorCode, string>> = {
  upstream_connect: 'the service could not be reached',
  upstream_reset: 'the service closed the connection before it replied',
  upstream_invalid: 'the response is malformed or larger than 1 MiB',
  request_timeout: 'the service did not reply in time',
};
