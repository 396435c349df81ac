import { defineResource, idOfReply } from '../../define-resource.ts';
import { plugins } from './entity.ts';
import { Plugins } from './migrations/202611221810-plugins.ts';
import { pluginRoutes } from './routes.ts';

/** An organisation has at most one plugin of a partner, so that each sample takes another one. */
const samplePartners = [
  'acuvity',
  'aporia',
  'exa',
  'lasso',
  'mistral',
  'patronus',
  'pillar',
  'qualifire',
  'sydelabs',
  'walledai',
] as const;

export const pluginsResource = defineResource({
  name: 'plugins',
  after: ['guardrails'],
  entities: [plugins],
  migrations: [{ name: '202611221810-plugins', class: Plugins }],
  routes: pluginRoutes,
  samples: [
    {
      create: '/plugins',
      item: null,
      list: '/plugins',
      body: (_tenant, _, n, mark) => ({
        plugin_provider_id: samplePartners[(mark.charCodeAt(0) + n) % samplePartners.length],
        name: `${mark} plugin ${n}`,
        credentials: { apiKey: `${mark}-key-${n}` },
      }),
      update: (_tenant, _, mark) => ({ name: `${mark} changed` }),
      ofWorkspace: false,
      idOf: idOfReply,
    },
  ],
});
