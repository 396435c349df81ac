import { registerHooks } from 'node:module';

const own = new URL(`../contract/plugin/plugin${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url).href;
let shared = false;

/**
 * Makes `svc-gateway/plugin` resolve to this process's own contract for every importer, in every folder. Plugins then work in a
 * clone that was not built and in a folder without `node_modules`, and share one GatewayError class. Safe to call twice.
 */
export function sharePackage(): void {
  if (shared) return;
  shared = true;
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'svc-gateway/plugin' ? { url: own, shortCircuit: true } : next(specifier, context),
  });
}
