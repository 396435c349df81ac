import * as v from 'valibot';
import {
  loadedPlugin,
  loadedPluginsMs,
  loadedPluginsPath,
  loadedPluginsReply,
  loadedProvider,
} from '../../../core/contract/protocol/control-plane-calls/loaded-plugins.ts';
import { askGateway } from '../../http/gateways/ask-gateway.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';

/** Third-party plugins of the gateways. */
export const loadedPluginRoutes: readonly AdminRoute[] = [
  defineRoute({
    method: 'GET',
    path: '/plugins/loaded',
    scopes: ['plugins.list'],
    tenant: 'organisation',
    resource: 'plugins',
    action: 'list-loaded',
    summary: 'List the third-party plugins and providers that gateways have loaded',
    reply: v.strictObject({
      object: v.literal('list'),
      total: v.number(),
      data: v.array(loadedPlugin),
      providers: v.array(loadedProvider),
    }),
    query: v.strictObject({}),
    body: null,
    async handle({ services }) {
      const { plugins, providers } = await askGateway(services, {
        path: loadedPluginsPath,
        body: {},
        reply: loadedPluginsReply,
        timeoutMs: loadedPluginsMs,
        what: 'list its plugins',
      });
      return { object: 'list' as const, total: plugins.length, data: plugins, providers };
    },
  }),
];
