import { registerHooks } from 'node:module';

const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const at = (path: string): string => new URL(`../${path}${extension}`, import.meta.url).href;
const own: Readonly<Record<string, string>> = {
  'svc-gateway/plugin': at('contract/plugin/plugin'),
  'svc-gateway/provider': at('provider-host/provider'),
  'svc-gateway/provider-adapter': at('providers/provider-adapter'),
  'svc-gateway/test-kit': at('test-kit/index'),
};
let shared = false;

/**
 * Makes the entry points of this package for third parties resolve to this process's own files for every importer, in every folder. Plugins
 * and providers then work in a clone that was not built and in a folder without `node_modules`, and share one GatewayError class and one
 * list of providers. Safe to call twice.
 */
export function sharePackage(): void {
  if (shared) return;
  shared = true;
  registerHooks({
    resolve: (specifier, context, next) =>
      Object.hasOwn(own, specifier) ? { url: own[specifier] as string, shortCircuit: true } : next(specifier, context),
  });
}
