import * as v from 'valibot';
import type { Identity, RequestContext } from '../../core/contract/plugin/context.ts';
import { type CoreHooks, type CorePlugin, type CoreServices, defineCorePlugin } from '../../core/contract/plugin/core-plugin.ts';
import type { ConfigDocument, WorkspaceDocument } from '../../core/contract/protocol/documents.ts';
import { defaultPrefix, headerParam } from '../../core/contract/protocol/header-names.ts';
import { GatewayError } from '../../core/contract/values/errors/errors.ts';
import { isPromise, type Maybe } from '../../core/contract/values/maybe.ts';
import { type MetadataHeaders, readMetadata } from './metadata.ts';
import { askedCacheMode, checkRequestOptions } from './request-options.ts';
import { readRequestTarget, type SettingHeaders, settingHeadersOf, stripModelSlug } from './request-target.ts';
import { defaultConfig, savedConfig } from './saved-config.ts';
import { blockedHeadersOf, checkSavedOnly, isConfigSlug } from './saved-only.ts';
import { adoptSvcOptions } from './svc-options.ts';

/**
 * Selects the config of a request: from the header, otherwise the key's default, otherwise the workspace's default; configs are
 * never merged. Adds the settings of the request's headers.
 */
export const configResolution = (): CorePlugin =>
  defineCorePlugin({
    name: 'config-resolution',
    stage: 'config',
    after: ['auth'],
    config: v.optional(v.strictObject({})),
    onConfig: (_config, _scope, services) => createHooks(services),
  });

function createHooks(services: CoreServices): CoreHooks {
  const mapped = services.headersToMetadata ?? noHeaders;
  const savedOnly = services.blockInlineConfig ?? false;
  const prefixes = services.headerPrefixes ?? [defaultPrefix];
  const settingHeaders = settingHeadersOf(services.settingNames);
  const blockedHeaders = blockedHeadersOf(services.settingNames);

  function resolve(ctx: RequestContext, identity: Identity, workspace: WorkspaceDocument | null): Maybe<undefined> {
    if (!workspace) throw new GatewayError('forbidden', { message: 'Forbidden! The workspace of this key has been deleted' });
    ctx.workspace = workspace;
    // The body of an explain request names the config. The request itself runs under none.
    if (ctx.endpoint?.routing === 'none') {
      ctx.metadata = readMetadata(ctx, identity, workspace, mapped);
      return undefined;
    }
    if (ctx.endpoint?.takesSvcOptions) adoptSvcOptions(ctx, prefixes);
    checkRequestOptions(ctx);
    if (savedOnly || workspace.settings?.blockInlineConfig) checkSavedOnly(ctx, savedOnly, blockedHeaders);
    const chosen = chooseConfig(ctx, identity, workspace, services);
    if (isPromise(chosen)) return chosen.then((document) => apply(ctx, identity, workspace, document));
    return apply(ctx, identity, workspace, chosen);
  }

  function apply(
    ctx: RequestContext,
    identity: Identity,
    workspace: WorkspaceDocument,
    document: ConfigDocument | null,
  ): undefined {
    ctx.metadata = readMetadata(ctx, identity, workspace, mapped);
    applyConfig(ctx, document, services, settingHeaders);
  }

  return {
    onRequest(ctx) {
      const identity = ctx.identity;
      if (!identity) throw new GatewayError('internal', { detail: 'config-resolution ran before auth' });
      const workspace = services.documents.get('workspace', identity.workspaceId);
      return isPromise(workspace) ? workspace.then((found) => resolve(ctx, identity, found)) : resolve(ctx, identity, workspace);
    },
  };
}

const noHeaders: MetadataHeaders = { names: [], keyPrefix: '' };

/** The saved config to use; null when there is none, or when the header holds an inline one. */
function chooseConfig(
  ctx: RequestContext,
  identity: Identity,
  workspace: WorkspaceDocument,
  services: CoreServices,
): Maybe<ConfigDocument | null> {
  const header = ctx.gatewayHeaders.get('config');
  const own = identity.defaults.configSlug;
  if (header !== undefined && header !== '') {
    if (own !== null && !identity.defaults.allowConfigOverride)
      throw new GatewayError('config_override_blocked', { param: headerParam('config') });
    return isConfigSlug(header) ? savedConfig(identity, header, services.documents) : null;
  }
  if (own !== null) return defaultConfig(identity, own, services.documents);
  const slug = workspace.defaultConfigSlug;
  return slug === null ? null : savedConfig(identity, slug, services.documents);
}

function applyConfig(
  ctx: RequestContext,
  document: ConfigDocument | null,
  services: CoreServices,
  settingHeaders: SettingHeaders,
): void {
  const header = ctx.gatewayHeaders.get('config');
  const inline = header !== undefined && header !== '' && !isConfigSlug(header) ? header : null;
  ctx.configChoice = { document, inline, cacheMode: askedCacheMode(ctx) };
  ctx.requestTarget = readRequestTarget(ctx, stripModelSlug(ctx), services, settingHeaders);
}
