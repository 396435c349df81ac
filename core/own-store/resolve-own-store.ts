import type { RequestContext } from '../contract/plugin/context.ts';
import type { Target } from '../contract/plugin/plan.ts';
import { isOwnId, ownStoreOrigin, ownStoreProvider } from '../contract/provider/own-store.ts';
import type { ClientHeaders, ProviderAdapter } from '../contract/provider/provider.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';

/** The required part of a resolved target: the operations of its provider. */
interface Resolved {
  readonly adapter: ProviderAdapter;
}

/**
 * Chooses between a provider and the service's own store. The store serves requests for files or batches that name no provider or
 * `svc`, ids of its own, batches whose input it stores or that run at once, and providers without files or batches. Throws
 * `forbidden` for batches with a JWT.
 */
export function createOwnStoreChoice<Found extends Resolved>(own: Found) {
  return {
    /** Returns the store if the request alone decides for it, otherwise null. */
    before(ctx: RequestContext, target: Target): Found | null {
      const { endpoint } = ctx;
      const name = target.provider ?? ctx.requestTarget?.provider ?? null;
      if (name === ownStoreProvider) return ownFor(ctx);
      if (!endpoint?.isStored) return null;
      return name === null || isOwnId(endpoint.pathParams?.id) || isRunHere(ctx) ? ownFor(ctx) : null;
    },
    /** Returns the provider, or the store in its place. */
    after(ctx: RequestContext, resolved: Found): Found {
      const { endpoint } = ctx;
      if (!endpoint?.isStored || !endpoint.operation || !endpoint.isEmulated) return resolved;
      const operation = resolved.adapter.operations[endpoint.operation];
      if (!operation || operation.serves?.(headersOf(ctx)) === false) return ownFor(ctx);
      return endpoint.hasModelsInFile && isOwnId(ctx.params?.input_file_id) && !operation.takesOwnFiles ? ownFor(ctx) : resolved;
    },
  };

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
