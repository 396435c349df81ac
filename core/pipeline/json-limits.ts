import { GatewayError } from '../contract/errors.ts';

const depthMax = 64;
const keysMax = 50_000;
/** A body this short can hold neither; its nesting stays far from the end of any stack. */
const harmlessBytes = 8192;

/**
 * Refuses JSON that is nested deeper than 64 levels or holds more than 50,000 keys (security §6), before anything walks it.
 * Throws `bad_request`. Walks without recursion, so that the check itself cannot be made to fall over.
 */
export function checkJsonLimits(value: object, bytes: number): void {
  if (bytes <= harmlessBytes) return;
  let level: object[] = [value];
  let keys = 0;
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > depthMax) throw new GatewayError('bad_request', { message: `The body is nested deeper than ${depthMax} levels` });
    const next: object[] = [];
    for (const item of level) {
      const isArray = Array.isArray(item);
      for (const child of isArray ? item : Object.values(item)) {
        if (!isArray && ++keys > keysMax)
          throw new GatewayError('bad_request', { message: `The body holds more than ${keysMax} keys` });
        if (typeof child === 'object' && child !== null) next.push(child);
      }
    }
    level = next;
  }
}
