import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { SdkRecord } from '../../core/contract/plugin/record/record.ts';

const lengthMax = 100;

/** Returns what the client states about its SDK; undefined if it states nothing. Longer values are cut. */
export function sdkOf({ gatewayHeaders }: RequestContext): SdkRecord | undefined {
  const runtime = gatewayHeaders.get('runtime');
  const runtimeVersion = gatewayHeaders.get('runtime-version');
  const version = gatewayHeaders.get('package-version');
  if (!runtime && !runtimeVersion && !version) return undefined;
  return { runtime: cut(runtime), runtimeVersion: cut(runtimeVersion), version: cut(version) };
}

function cut(value: string | undefined): string | null {
  return value?.slice(0, lengthMax) || null;
}
