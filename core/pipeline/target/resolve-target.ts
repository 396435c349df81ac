import type { RequestContext } from '../../contract/plugin/context.ts';
import type { Target } from '../../contract/plugin/plan.ts';
import type { DocumentReader } from '../../contract/plugin/plugin.ts';
import type { MappedValues } from '../../contract/protocol/credentials/secret-managers.ts';
import type { ProviderDocument } from '../../contract/protocol/documents.ts';
import { headerParam } from '../../contract/protocol/header-names.ts';
import type { Credentials } from '../../contract/provider/provider.ts';
import type { CallAddress } from '../../contract/values/addresses/call-address.ts';
import { Secret } from '../../contract/values/credentials/secret.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { withoutCredentials } from '../../contract/values/http/credential-headers.ts';
import { isEmptyObject, type JsonObject } from '../../contract/values/json/json.ts';
import { isPromise, type Maybe } from '../../contract/values/maybe.ts';
import type { BodyLimits } from '../request/read-body.ts';
import { type BuilderOptions, createBuilder, type ResolvedTarget } from './build-target.ts';
import { gateModels, isRestricted } from './gate-models.ts';
import { holdProxyBody, holdsProxyBody } from './hold-proxy-body.ts';
import { buildOpened, type DocumentOpener, hasMapped, type OpenDocument, valuesOf, withValues } from './open-document.ts';
import { unknownProvider } from './unknown-provider.ts';

export type { ResolvedTarget } from './build-target.ts';

export interface ResolverOptions extends BuilderOptions, DocumentOpener {
  readonly documents: DocumentReader;
  /** Opens the sealed headers of a stored provider's models: by model, name to value. */
  openModelHeaders?(document: ProviderDocument): Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly now: () => number;
  readonly bodies: BodyLimits;
  /** The service's own store of files and batches. Absent: only providers. */
  readonly ownStore?: OwnStoreChoice;
}

/** Chooses between a provider and the service's own store; see core/own-store. */
interface OwnStoreChoice {
  before(ctx: RequestContext, target: Target): ResolvedTarget | null;
  after(ctx: RequestContext, resolved: ResolvedTarget): ResolvedTarget;
}

/** A stored provider, resolved once for its document and for the values of its secret managers, if any. */
interface Stored extends OpenDocument {
  readonly resolved: ResolvedTarget;
}

export type ResolveTarget = (ctx: RequestContext, target: Target) => Maybe<ResolvedTarget>;

/**
 * Resolves targets of a plan to addresses and credentials. Stored providers and complete targets are resolved once per document
 * or plan. Parts that depend on the request's headers are added each time.
 */
export function createResolver(options: ResolverOptions): ResolveTarget {
  const stored = new WeakMap<ProviderDocument | MappedValues, Stored>();
  const fixed = new WeakMap<Target, ResolvedTarget>();
  const { adapterOf, build } = createBuilder(options);
  const { ownStore, bodies } = options;

  return (ctx, target) => {
    const found = ownStore?.before(ctx, target) ?? ofProvider(ctx, target);
    return isPromise(found) ? found.then((resolved) => ready(ctx, resolved)) : ready(ctx, found);
  };

  function ready(ctx: RequestContext, resolved: ResolvedTarget): Maybe<ResolvedTarget> {
    const chosen = ownStore === undefined ? resolved : ownStore.after(ctx, resolved);
    return holdsProxyBody(ctx, chosen) ? holdProxyBody(ctx, chosen, bodies) : chosen;
  }

  function ofProvider(ctx: RequestContext, target: Target): Maybe<ResolvedTarget> {
    const name = target.provider ?? ctx.requestTarget?.provider ?? null;
    if (name === null) throw new GatewayError('missing_provider');
    if (!name.startsWith('@')) return ownCredentials(ctx, target, name);
    const slug = name.slice(1).split('/', 1)[0] as string;
    const identity = ctx.identity;
    if (!identity) throw new GatewayError('internal', { detail: 'a target was resolved before the caller was known' });
    const document = options.documents.get('provider', `${identity.workspaceId}/${slug}`);
    return isPromise(document)
      ? document.then((found) => fromStore(ctx, target, slug, found))
      : fromStore(ctx, target, slug, document);
  }

  function fromStore(
    ctx: RequestContext,
    target: Target,
    slug: string,
    document: ProviderDocument | null,
  ): Maybe<ResolvedTarget> {
    if (!document) return unknownProvider(options.documents, ctx.identity?.workspaceId ?? '', slug);
    if (document.status === 'expired' || (document.expiresAt !== null && Date.parse(document.expiresAt) <= options.now())) {
      throw new GatewayError('provider_expired', { message: `The provider @${slug} has expired`, param: 'provider' });
    }
    if (!hasMapped(document)) return targetFor(ctx, target, slug, storedOf(document, slug, null));
    const values = valuesOf(document, options);
    return isPromise(values)
      ? values.then((found) => targetFor(ctx, target, slug, storedOf(document, slug, found)))
      : targetFor(ctx, target, slug, storedOf(document, slug, values));
  }

  function storedOf(document: ProviderDocument, slug: string, values: MappedValues | null): Stored {
    const known = stored.get(values ?? document);
    if (known) return known;
    const opened = withValues(document, values, options);
    const made = buildOpened(document, () => buildStored(opened, slug, opened.document.settings));
    const { secretManagers } = options;
    const renew = values && secretManagers ? () => secretManagers.renew(document, values) : null;
    const found = { ...opened, resolved: renew ? { ...made, renew } : made };
    stored.set(values ?? document, found);
    return found;
  }

  function targetFor(ctx: RequestContext, target: Target, slug: string, stored: Stored): ResolvedTarget {
    const { document, resolved } = stored;
    const host = target.customHost ?? ctx.requestTarget?.customHost ?? null;
    // A stored credential is sent only to the host it was stored for.
    if (host !== null && !sameBase(resolved, options.parseBaseUrl(host))) {
      throw new GatewayError('invalid_custom_host', {
        message: `Invalid custom host: the stored credential of @${slug} is sent to its own host only. Set custom_host on its integration instead`,
        param: 'custom_host',
      });
    }
    const settings = { ...ctx.requestTarget?.settings, ...target.settings };
    if (isEmptyObject(settings)) return resolved;
    const { pinned = [], pinnedOnceStored = [], modelSettings = [] } = resolved.adapter;
    for (const key of [...pinned, ...pinnedOnceStored.filter((name) => (document.settings[name] ?? null) !== null)]) {
      if (settings[key] === undefined || settings[key] === document.settings[key]) continue;
      throw new GatewayError('invalid_config', {
        message: `${key}: stored with the credential of @${slug}; a request or config cannot change it`,
        param: key,
      });
    }
    if (document.models) refuseOtherModel(document, settings, modelSettings);
    const changed = buildStored(stored, slug, { ...document.settings, ...settings });
    refuseMove(resolved, changed, settings, `@${slug} has a stored credential`);
    return resolved.renew ? { ...changed, renew: resolved.renew } : changed;
  }

  function buildStored(
    { document, credentials, headers: own }: OpenDocument,
    slug: string,
    settings: JsonObject,
  ): ResolvedTarget {
    const adapter = adapterOf(document.provider);
    const built = build(adapter, slug, settings, credentials, own);
    const made = hasLimits(document) ? { ...built, isLimited: true } : built;
    if (!document.models) return made;
    const ofModel = gateModels(made, document.models, {
      headers: () => options.openModelHeaders?.(document) ?? {},
      at(host, headers) {
        const there = host === null ? settings : { ...settings, custom_host: host };
        // The credential was stored for the integration's host. A model on another host has its own, in its headers.
        const isElsewhere = host !== null && options.parseBaseUrl(host).origin !== made.origin;
        const custom = { ...(isElsewhere ? withoutCredentials(own) : own), ...headers };
        return build(adapter, slug, there, isElsewhere ? withheld(credentials) : credentials, custom);
      },
    });
    return { ...made, ofModel, restrictsModels: isRestricted(document.models) };
  }

  function ownCredentials(ctx: RequestContext, target: Target, type: string): ResolvedTarget {
    const asked = ctx.requestTarget;
    const bringsNothing = !asked?.customHost && isEmptyObject(asked?.settings ?? {});
    const known = bringsNothing ? fixed.get(target) : undefined;
    if (known) return known;
    const host = asked?.customHost ?? target.customHost;
    const own = !isEmptyObject(target.credentials);
    const settings: JsonObject = { ...asked?.settings, ...target.settings };
    if (host !== null && host !== undefined) settings.custom_host = host;
    // A key in a config belongs to the host in the same config; a host from a header needs its own key.
    if (own && asked?.customHost && asked.customHost !== target.customHost) {
      throw new GatewayError('invalid_custom_host', {
        message:
          'Invalid custom host: a key from a config is sent to the host of that config only. Send the provider key with the request',
        param: headerParam('custom-host'),
      });
    }
    // Credentials of a config and of a caller are never mixed: half of each is not a valid credential.
    const credentials = own ? target.credentials : (asked?.credentials ?? {});
    const resolved = build(adapterOf(type), null, settings, credentials, null);
    if (own && asked && !isEmptyObject(asked.settings)) {
      const saved: JsonObject = { ...target.settings };
      if (host !== null && host !== undefined) saved.custom_host = host;
      refuseMove(build(resolved.adapter, null, saved, credentials, null), resolved, asked.settings, 'a key from a config');
    }
    if (target.provider !== null && own && bringsNothing) fixed.set(target, resolved);
    return resolved;
  }
}

function hasLimits({ usageLimits, rateLimits, integrationLimits: shared }: ProviderDocument): boolean {
  return Boolean(usageLimits || rateLimits?.length || shared?.usageLimits || shared?.rateLimits.length);
}

/** If models are restricted, only the model's own name may select one, because that name is checked. */
function refuseOtherModel(document: ProviderDocument, settings: Readonly<JsonObject>, names: readonly string[]): void {
  const key = names.find((name) => settings[name] !== undefined && settings[name] !== document.settings[name]);
  if (key === undefined) return;
  throw new GatewayError('invalid_config', {
    message: `${key}: the models of @${document.slug} are restricted; a request or config cannot change it`,
    param: key,
  });
}

function sameBase(resolved: ResolvedTarget, base: CallAddress): boolean {
  return resolved.origin === base.origin && resolved.basePath === base.path;
}

/**
 * Returns the same number of empty credentials: adapters check if there are any, and some put them in headers that can be
 * replaced.
 */
function withheld(credentials: Credentials): Credentials {
  return Object.fromEntries(Object.keys(credentials).map((name) => [name, new Secret('')]));
}

/**
 * Throws if settings would send a stored credential to another host. Only settings that the provider declares as a move between
 * its own hosts, such as regions, may do that.
 */
function refuseMove(from: ResolvedTarget, to: ResolvedTarget, by: Readonly<JsonObject>, whose: string): void {
  if (from.origin === to.origin || to.adapter.movedBy?.some((key) => by[key] !== undefined)) return;
  const names = Object.keys(by).join(', ');
  throw new GatewayError('invalid_custom_host', {
    message: `Invalid custom host: ${whose}, which is sent to its own host only. ${names} would change the host`,
    param: names,
  });
}
