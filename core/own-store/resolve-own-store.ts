import type { RequestContext } from '../contract/plugin/context.ts';
import type { Target } from '../contract/plugin/plan.ts';
import { isOwnId, ownStoreOrigin, ownStoreProvider } from '../contract/provider/own-store.ts';
import type { ClientHeaders, ProviderAdapter } from '../contract/provider/provider.ts';
import { GatewayError } from '../contract/values/errors.ts';
import { isPromise, type Maybe } from '../contract/values/json.ts';

/** The required part of a resolved target: the operations of its provider. */
interface Resolved {
  readonly adapter: ProviderAdapter;
}

/**
 * Looks up targets, including the service's own store. The store serves requests for files or batches that name no provider or
 * `svc`, ids of its own, batches whose input it stores or that run at once, and providers without files or batches.
 */
export function withOwnStore<Found extends Resolved>(
  resolve: (ctx: RequestContext, target: Target) => Maybe<Found>,
  own: Found,
): (ctx: RequestContext, target: Target) => Maybe<Found> {
  return (ctx, target) => {
    const { endpoint } = ctx;
    const name = target.provider ?? ctx.requestTarget?.provider ?? null;
    if (name === ownStoreProvider) return ownFor(ctx);
    if (!endpoint?.isStored) return resolve(ctx, target);
    if (name === null || isOwnId(endpoint.pathParams?.id) || isRunHere(ctx)) return ownFor(ctx);
    const found = resolve(ctx, target);
    return isPromise(found) ? found.then((resolved) => orOwn(ctx, resolved)) : orOwn(ctx, found);
  };

  function orOwn(ctx: RequestContext, resolved: Found): Found {
    const { endpoint } = ctx;
    if (!endpoint?.operation || !endpoint.isEmulated) return resolved;
    const operation = resolved.adapter.operations[endpoint.operation];
    if (!operation || operation.serves?.(headersOf(ctx)) === false) return ownFor(ctx);
    return endpoint.hasModelsInFile && isOwnId(ctx.params?.input_file_id) && !operation.takesOwnFiles ? ownFor(ctx) : resolved;
  }

  function ownFor(ctx: RequestContext): Found {
    if (ctx.token === null || !ctx.endpoint?.hasModelsInFile) return own;
    // The lines of a batch are sent for the key that created it, for up to a day.
    throw new GatewayError('forbidden', {
      message: 'Forbidden! Batches run by the service require an API key, because a token may expire before their lines are sent',
    });
  }
}

function headersOf({ request, gatewayHeaders }: RequestContext): ClientHeaders {
  return { header: (name) => request.header(name), gatewayHeader: (name) => gatewayHeaders.get(name) };
}

function isRunHere(ctx: RequestContext): boolean {
  return ctx.endpoint?.hasModelsInFile === true && ctx.params?.completion_window === 'immediate';
}

/** Returns the target of the own store. */
export function ownStoreTarget(adapter: ProviderAdapter) {
  return {
    adapter,
    slug: null,
    settings: {},
    credentials: {},
    origin: ownStoreOrigin,
    basePath: '',
    headers: [],
    ofModel: null,
  };
}
