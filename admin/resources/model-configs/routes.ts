import * as v from 'valibot';
import { declarationOf } from '../../../core/providers/declarations.ts';
import { notFound } from '../../http/errors.ts';
import { success } from '../../http/reply/reply-schemas.ts';
import { tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { listedModels, wireGeneral, wirePrices } from '../../pricing/wire-prices.ts';
import { providerTypes } from '../integrations/configurations/provider-type.ts';

const scopes = [
  'providers.list',
  'virtual_keys.list',
  'workspace_integrations.list',
  'organisation_integrations.list',
  'models.list',
];

const readers = {
  pricing: (provider: string, model: string) => wirePrices(provider, model, new Date()),
  general: wireGeneral,
} as const;
type Kind = keyof typeof readers;

const text = v.strictObject({
  id: v.string(),
  slug: v.string(),
  name: v.string(),
  status: v.literal('active'),
  description: v.null(),
});

const anything = v.record(v.string(), v.unknown());

/** Routes of general data about providers and models: provider types and public prices. */
export const modelConfigRoutes: readonly AdminRoute[] = [
  ...['ai-providers', 'integration-providers'].map((name) =>
    defineRoute({
      method: 'GET',
      path: `/utils/static-resources/${name}`,
      summary: 'List the types of providers',
      reply: success(v.array(text)),
      scopes,
      tenant: 'either',
      resource: 'model_configs',
      action: 'list-providers',
      query: tenantQuery,
      body: null,
      async handle() {
        const data = providerTypes.map((slug) => ({
          id: slug,
          slug,
          name: declarationOf(slug)?.title ?? slug,
          status: 'active',
          description: null,
        }));
        return { success: true, data };
      },
    }),
  ),
  defineRoute({
    method: 'GET',
    path: '/utils/model-configs/:type/:provider',
    summary: 'Read the public prices, or the descriptions, of all models of a provider',
    reply: success(anything),
    scopes,
    tenant: 'either',
    resource: 'model_configs',
    action: 'list',
    query: tenantQuery,
    body: null,
    async handle(call) {
      const read = readerOf(call.params.type);
      const provider = call.params.provider ?? '';
      const found = listedModels(provider).flatMap((model) => {
        const one = read(provider, model);
        return one ? [[model, one] as const] : [];
      });
      if (found.length === 0) throw notFound('Provider');
      return { success: true, data: Object.fromEntries(found) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/utils/model-configs/:type/:provider/:model',
    summary: 'Read the public prices, or the description, of a model',
    reply: success(anything),
    scopes,
    tenant: 'either',
    resource: 'model_configs',
    action: 'read',
    query: tenantQuery,
    body: null,
    async handle(call) {
      const found = readerOf(call.params.type)(call.params.provider ?? '', call.params.model ?? '');
      if (!found) throw notFound('Model');
      return { success: true, data: found };
    },
  }),
];

function readerOf(type: string | undefined) {
  const read = Object.hasOwn(readers, type ?? '') ? readers[type as Kind] : undefined;
  if (!read) throw notFound('Model config');
  return read;
}
