import { functionName } from '../function-name.ts';

/** Coding agents name MCP tools `<namespace>__<tool>` elsewhere. */
export function flatName(namespace: string, name: string): string {
  return functionName(namespace.endsWith('__') ? namespace + name : `${namespace}__${name}`);
}
