import * as v from 'valibot';
import type { Identity, RequestContext } from '../../core/contract/context.ts';
import type { ConfigDocument } from '../../core/contract/documents.ts';
import { GatewayError } from '../../core/contract/errors.ts';
import { isPromise, type Maybe } from '../../core/contract/json.ts';
import { definePlugin, type Hooks, type Services } from '../../core/contract/plugin.ts';
import { readMetadata } from './metadata.ts';
import { readRequestTarget, stripModelSlug } from './request-target.ts';

/**
 * Which config a request runs under, and what its headers add to it. Header, else the key's default, else the workspace's
 * default; never merged (semantics §2).
 */
export const configResolution = definePlugin({
  name: 'config-resolution',
  stage: 'config',
  after: ['auth'],
  config: v.optional(v.strictObject({})),
  onConfig: (_config, _scope, services) => createHooks(services),
});

function createHooks(services: Services): Hooks {
  return {
    onRequest(ctx) {
      const identity = ctx.identity;
      if (!identity) throw new GatewayError('internal', { detail: 'config-resolution ran before auth' });
      const chosen = chooseConfig(ctx, identity, services);
      if (isPromise(chosen)) return chosen.then((document) => apply(ctx, document, services));
      return apply(ctx, chosen, services);
    },
  };
}

/** The saved config to use; null when there is none, or when the header holds an inline one. */
function chooseConfig(ctx: RequestContext, identity: Identity, services: Services): Maybe<ConfigDocument | null> {
  const header = ctx.gatewayHeaders.get('config');
  const own = identity.defaults.configSlug;
  if (header !== undefined && header !== '') {
    if (own !== null && !identity.defaults.allowConfigOverride)
      throw new GatewayError('config_override_blocked', { param: 'x-svc-config' });
    return isSlug(header) ? savedConfig(identity, header, services) : null;
  }
  if (own !== null) return savedConfig(identity, own, services);
  const workspace = services.documents.get('workspace', identity.workspaceId);
  if (isPromise(workspace))
    return workspace.then((found) =>
      found?.defaultConfigSlug ? savedConfig(identity, found.defaultConfigSlug, services) : null,
    );
  return workspace?.defaultConfigSlug ? savedConfig(identity, workspace.defaultConfigSlug, services) : null;
}

function savedConfig(identity: Identity, slug: string, services: Services): Maybe<ConfigDocument> {
  const document = services.documents.get('config', `${identity.workspaceId}/${slug}`);
  return isPromise(document) ? document.then((found) => required(found, slug)) : required(document, slug);
}

function required(document: ConfigDocument | null, slug: string): ConfigDocument {
  if (document) return document;
  throw new GatewayError('invalid_config', { message: `Invalid config id passed: ${slug.slice(0, 255)}`, param: 'x-svc-config' });
}

function apply(ctx: RequestContext, document: ConfigDocument | null, services: Services): undefined {
  const header = ctx.gatewayHeaders.get('config');
  if (document) ctx.plan = services.plans.saved(document);
  else if (header !== undefined && header !== '' && !isSlug(header)) ctx.plan = services.plans.inline(header);
  ctx.configSlug = ctx.plan.slug;
  ctx.configVersionId = ctx.plan.versionId;
  ctx.metadata = readMetadata(ctx);
  const modelSlug = stripModelSlug(ctx);
  ctx.requestTarget = readRequestTarget(ctx, modelSlug, services);
  if (ctx.requestTarget?.provider === undefined || ctx.requestTarget.provider === null) {
    for (const target of ctx.plan.targets) if (target.provider === null) throw missingProvider();
  }
  return undefined;
}

/** Anything that could be a slug is one, whatever it begins with: a config that can be saved can be used. */
function isSlug(header: string): boolean {
  return slugPattern.test(header);
}

const slugPattern = /^[a-zA-Z0-9_-]{1,255}$/;

function missingProvider(): GatewayError {
  return new GatewayError('missing_provider', {
    message: 'Either x-svc-config or x-svc-provider header is required, or a model of the form @provider-slug/model',
    param: 'x-svc-provider',
  });
}
